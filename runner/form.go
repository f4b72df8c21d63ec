package runner

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"

	"rung/runner/prompt"
	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

// corpusBytes bounds how much of a text is tokenised.
const corpusBytes = 256 << 10

// material is what the bodies of one prompt are made from: one of ids and texts.
type material struct {
	prompt plan.Prompt
	ids    *prompt.IDs
	texts  *prompt.Texts
	exact  bool // asked for, and the server takes ignore_eos and min_tokens
}

// body makes one request; draw gives the seed of each of its inputs. tokens are
// those of all inputs together.
func (m *material) body(ctx context.Context, c *target.Client, shape plan.Shape, draw drawer) (body []byte, tokens int, err error) {
	ids := make([][]int, 0, shape.Batch)
	texts := make([]string, 0, shape.Batch)
	for i := range shape.Batch {
		seed := draw(i)
		n := m.length(shape, seed)
		tokens += n
		if m.ids != nil {
			in, err := m.ids.Input(seed, n)
			if err != nil {
				return nil, 0, err
			}
			ids = append(ids, in)
			continue
		}
		in, err := m.texts.Input(ctx, seed, n)
		if err != nil {
			return nil, 0, err
		}
		texts = append(texts, in)
	}
	body, err = m.compose(c, shape, ids, texts)
	return body, tokens, err
}

// shared is how many tokens stand before the text of each request.
func (m *material) shared() int {
	if m.ids != nil {
		return m.ids.Prefix()
	}
	return m.texts.Overhead
}

// compose puts inputs, which are ids or texts, into the API's form.
func (m *material) compose(c *target.Client, shape plan.Shape, ids [][]int, texts []string) ([]byte, error) {
	o := target.Options{OutputTokens: shape.OutputTokens, Exact: m.exact, Temperature: m.prompt.Temperature, Stream: m.prompt.Stream}
	switch api := c.API(); {
	case api == plan.OpenAIChat:
		return c.Chat(texts[0], o)
	case api == plan.OpenAICompletions && m.ids != nil:
		return c.CompleteIDs(ids[0], o)
	case api == plan.OpenAICompletions:
		return c.CompleteText(texts[0], o)
	case m.ids != nil:
		return c.EmbedIDs(ids)
	default:
		return c.EmbedTexts(texts)
	}
}

// length is that of one input: the shape's or, of a mix, the one that the input's
// seed picks.
func (m *material) length(shape plan.Shape, seed [32]byte) int {
	if len(m.prompt.Mix) == 0 {
		return shape.InputTokens
	}
	sum := sha256.Sum256(append([]byte("length"), seed[:]...))
	at := float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
	for _, s := range m.prompt.Mix {
		if at -= s.Share; at < 0 {
			return s.Tokens
		}
	}
	return m.prompt.Mix[len(m.prompt.Mix)-1].Tokens
}

// drawer gives the seed of each input of a request.
type drawer func(input int) [32]byte

// drawer gives the seeds of the request that key names. Unless the prompt is to be
// used again they are the request's own.
func (m *material) drawer(p plan.Plan, key plan.Key) drawer {
	const same, pool = "same", "pool" // phases that no request has
	switch m.prompt.Reuse {
	case plan.Same:
		return func(input int) [32]byte { return p.Draw(plan.Key{Phase: same, Ladder: m.prompt.Name}, input) }
	case plan.Pool:
		return func(input int) [32]byte {
			own := p.Draw(key, input)
			k := binary.BigEndian.Uint64(own[:8]) % uint64(max(1, m.prompt.Pool))
			return p.Draw(plan.Key{Phase: pool, Ladder: m.prompt.Name, Index: int(k)}, 0) //nolint:gosec // below Pool, which is an int
		}
	default:
		return func(input int) [32]byte { return p.Draw(key, input) }
	}
}

// findForm finds, for one prompt, the form whose length the server confirms: ids
// where the API takes them, text aligned by the tokenise endpoint, text aligned
// by the usage of answers.
func (p *Prepared) findForm(ctx context.Context, u use, d target.Dialect, vocabulary int) (*material, error) {
	text := cutText(string(p.cfg.Texts[u.prompt.TextHash]))
	shape := u.shapes[0]
	shape.Batch, shape.InputTokens = 1, u.shortest()
	m := &material{prompt: u.prompt, exact: u.prompt.Exact}
	if p.cfg.Plan.Target.API == plan.OpenAIChat {
		m.texts = &prompt.Texts{Pieces: prompt.Split(text)}
		return p.confirmText(ctx, shape, d, m)
	}
	ids, err := p.idMaterial(ctx, d, vocabulary, text)
	if err != nil {
		return nil, err
	}
	if ids != nil {
		m.ids = ids
		ok, err := p.confirmIDs(ctx, shape, m)
		if err != nil || ok {
			p.server.InputForm = "ids"
			return m, err
		}
	}
	m.ids, m.texts = nil, &prompt.Texts{Pieces: prompt.Split(text)}
	return p.confirmText(ctx, shape, d, m)
}

// idMaterial tokenises the text and learns the special tokens. It is nil where a
// text was declared that no endpoint can tokenise: then only text will do.
func (p *Prepared) idMaterial(ctx context.Context, d target.Dialect, vocabulary int, text string) (*prompt.IDs, error) {
	if d == target.NoDialect {
		if text != "" {
			return nil, nil //nolint:nilnil // "not by ids" is an answer, not a failure
		}
		return prompt.NewIDs(nil, nil, nil, vocabulary), nil
	}
	const sample = "hello world"
	with, err := p.client.Tokenise(ctx, d, sample, true)
	if err != nil {
		return nil, err
	}
	bare, err := p.client.Tokenise(ctx, d, sample, false)
	if err != nil {
		return nil, err
	}
	prefix, suffix, _ := prompt.SplitSpecials(with, bare)
	if text == "" {
		return prompt.NewIDs(prefix, suffix, nil, vocabulary), nil
	}
	corpus, err := p.client.Tokenise(ctx, d, text, false)
	if err != nil {
		return nil, err
	}
	if len(corpus) == 0 {
		return nil, errors.New("the server finds no token in the text file")
	}
	return prompt.NewIDs(prefix, suffix, corpus, vocabulary), nil
}

// cutText bounds a text without cutting a rune.
func cutText(text string) string {
	if len(text) <= corpusBytes {
		return text
	}
	n := corpusBytes
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:n]
}

// confirmIDs sends one request of ids. false means that the server takes none.
func (p *Prepared) confirmIDs(ctx context.Context, shape plan.Shape, m *material) (bool, error) {
	row, err := p.probe(ctx, m, shape, true)
	if err != nil {
		return false, err
	}
	if p.refusesExact(m, row) {
		if row, err = p.withoutExact(ctx, m, shape); err != nil {
			return false, err
		}
	}
	switch row.Outcome {
	case record.OK:
		p.checkUsage(row)
		return true, nil
	case record.TokenMismatch, record.ClientError, record.BadResponse, record.ServerError:
		if row.Status != nil && (*row.Status == 401 || *row.Status == 403 || *row.Status == 404) {
			return false, p.errProbe(row)
		}
		return false, nil
	default:
		return false, p.errProbe(row)
	}
}

// confirmText finds how text is counted and sends one request to hold the count
// against the answer's usage.
func (p *Prepared) confirmText(ctx context.Context, shape plan.Shape, d target.Dialect, m *material) (*material, error) {
	if err := p.setCounter(ctx, shape, d, m); err != nil {
		return nil, err
	}
	p.server.InputForm, p.server.TemplateExtra = "text", m.texts.Overhead
	row, err := p.probe(ctx, m, shape, true)
	if err != nil {
		return nil, err
	}
	if p.refusesExact(m, row) {
		if row, err = p.withoutExact(ctx, m, shape); err != nil {
			return nil, err
		}
	}
	switch row.Outcome {
	case record.OK:
		p.checkUsage(row)
		p.checkOutput(row)
		return m, nil
	case record.TokenMismatch:
		if p.server.Tokeniser == byUsage {
			return nil, fmt.Errorf("%w: %s", errNoExactLength, row.Error)
		}
		return m, p.alignByUsage(ctx, shape, m, row)
	default:
		return nil, p.errProbe(row)
	}
}

// refusesExact says whether the server may have refused a request because it asks
// for an exact length.
func (p *Prepared) refusesExact(m *material, r record.Request) bool {
	return m.exact && r.Outcome == record.ClientError && r.Status != nil && (*r.Status == http.StatusBadRequest || *r.Status == http.StatusUnprocessableEntity)
}

// withoutExact asks the same once more without an exact length. Only where that is
// answered was the length what the server refused.
func (p *Prepared) withoutExact(ctx context.Context, m *material, shape plan.Shape) (record.Request, error) {
	m.exact = false
	row, err := p.probe(ctx, m, shape, true)
	if err == nil && row.Outcome == record.OK {
		p.warnings = append(p.warnings, "the server refuses ignore_eos and min_tokens: outputs are of at most the asked length")
	}
	if err == nil && row.Outcome != record.OK {
		m.exact = m.prompt.Exact
	}
	return row, err
}

func (p *Prepared) checkUsage(r record.Request) {
	if r.InputTokens == nil {
		p.warnings = append(p.warnings, "the server gives no usage: that the input tokens are as planned is not confirmed")
	}
}

func (p *Prepared) checkOutput(r record.Request) {
	if r.OutputTokensPlanned == nil || r.OutputTokens == nil || *r.OutputTokens == *r.OutputTokensPlanned {
		return
	}
	p.warnings = append(p.warnings, fmt.Sprintf("asked for %d output tokens the server gave %d: outputs are recorded as they come", *r.OutputTokensPlanned, *r.OutputTokens))
}

// byUsage is the tokeniser where there is none: words are counted, and the usage of
// answers says what a word is.
const byUsage = "usage"

// setCounter sets how the tokens of a text are counted: by the server's tokenise
// endpoint or, without one, by words, after two answers' usage has shown that a
// word is a token.
func (p *Prepared) setCounter(ctx context.Context, shape plan.Shape, d target.Dialect, m *material) error {
	m.texts.Count = func(ctx context.Context, text string) (int, error) {
		ids, err := p.client.Tokenise(ctx, d, text, true)
		return len(ids), err
	}
	if p.cfg.Plan.Target.API == plan.OpenAIChat {
		m.texts.Count = func(ctx context.Context, text string) (int, error) {
			n, _, err := p.client.CountChat(ctx, d, text)
			return n, err
		}
		if _, ok, err := p.client.CountChat(ctx, d, "a"); err != nil || !ok {
			d = target.NoDialect
		}
	}
	if d != target.NoDialect {
		n, err := m.texts.Count(ctx, "a")
		m.texts.Overhead = max(0, n-1)
		return err
	}
	p.server.Tokeniser = byUsage
	return p.calibrate(ctx, shape, m)
}

// calibrate learns from the usage of two answers what the server adds to a text
// of plain words, and refuses a server in which a word is not one token.
func (p *Prepared) calibrate(ctx context.Context, shape plan.Shape, m *material) error {
	if len(m.texts.Pieces) > 0 { // only plain words can be counted without a tokeniser
		m.texts.Pieces = nil
		p.warnings = append(p.warnings, fmt.Sprintf("prompt %q: its text file is not used: no tokenise endpoint of the server answers, and only built-in words can be counted by its usage", m.prompt.Name))
	}
	m.texts.Count = func(_ context.Context, text string) (int, error) { return len(prompt.Split(text)), nil }
	var counts [2]int
	lengths := [2]int{8, 16}
	for i, n := range lengths {
		n, err := p.usageOf(ctx, shape, m, n)
		if err != nil {
			return err
		}
		counts[i] = n
	}
	if counts[1]-counts[0] != lengths[1]-lengths[0] {
		return fmt.Errorf("%w: %d more words are %d more tokens in its usage", errNoExactLength, lengths[1]-lengths[0], counts[1]-counts[0])
	}
	extra := counts[0] - lengths[0]
	m.texts.Overhead = max(0, extra)
	m.texts.Count = func(_ context.Context, text string) (int, error) { return len(prompt.Split(text)) + extra, nil }
	return nil
}

// usageOf gives the server's count of a text of so many words.
func (p *Prepared) usageOf(ctx context.Context, shape plan.Shape, m *material, words int) (int, error) {
	bare := *m
	bare.prompt.Mix, shape.InputTokens = nil, words
	row, err := p.probe(ctx, &bare, shape, false)
	if err == nil && p.refusesExact(&bare, row) {
		row, err = p.withoutExact(ctx, &bare, shape)
		m.exact = bare.exact
	}
	switch {
	case err != nil:
		return 0, err
	case row.Outcome != record.OK && row.Outcome != record.TokenMismatch:
		return 0, p.errProbe(row)
	case row.InputTokens == nil:
		return 0, fmt.Errorf("%w: it has no tokenise endpoint and its answers have no usage", errNoExactLength)
	}
	return *row.InputTokens, nil
}

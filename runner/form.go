package runner

import (
	"context"
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
	ids   *prompt.IDs
	texts *prompt.Texts
	chat  bool
	exact bool // the server takes ignore_eos and min_tokens
}

// body makes one request; draw gives the seed of each of its inputs.
func (m *material) body(ctx context.Context, c *target.Client, shape plan.Shape, draw func(input int) [32]byte) ([]byte, error) {
	if m.ids != nil {
		inputs := make([][]int, shape.Batch)
		for i := range inputs {
			in, err := m.ids.Input(draw(i), shape.InputTokens)
			if err != nil {
				return nil, err
			}
			inputs[i] = in
		}
		return c.EmbeddingIDs(inputs)
	}
	texts := make([]string, shape.Batch)
	for i := range texts {
		in, err := m.texts.Input(ctx, draw(i), shape.InputTokens)
		if err != nil {
			return nil, err
		}
		texts[i] = in
	}
	if m.chat {
		return c.Chat(texts[0], target.ChatOptions{OutputTokens: shape.OutputTokens, Exact: m.exact})
	}
	return c.EmbeddingTexts(texts)
}

// findForm finds, for one prompt, the form whose length the server confirms: ids
// where the API takes them, text aligned by the tokenise endpoint, text aligned
// by the usage of answers.
func (p *Prepared) findForm(ctx context.Context, u use, d target.Dialect, vocabulary int) (*material, error) {
	text := cutText(string(p.cfg.Texts[u.prompt.TextHash]))
	shape := u.shapes[0]
	shape.Batch, shape.InputTokens = 1, u.shortest()
	if p.cfg.Plan.Target.API == plan.OpenAIChat {
		return p.confirmText(ctx, u.prompt, shape, d, &material{chat: true, exact: true, texts: &prompt.Texts{Pieces: prompt.Split(text)}})
	}
	ids, err := p.idMaterial(ctx, d, vocabulary, text)
	if err != nil {
		return nil, err
	}
	if ids != nil {
		ok, err := p.confirmIDs(ctx, u.prompt, shape, ids)
		if err != nil || ok {
			p.server.InputForm = "ids"
			return &material{ids: ids}, err
		}
	}
	return p.confirmText(ctx, u.prompt, shape, d, &material{texts: &prompt.Texts{Pieces: prompt.Split(text)}})
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
func (p *Prepared) confirmIDs(ctx context.Context, pr plan.Prompt, shape plan.Shape, ids *prompt.IDs) (bool, error) {
	body, err := (&material{ids: ids}).body(ctx, p.client, shape, p.probeDraw(pr))
	if err != nil {
		return false, err
	}
	row := p.probe(ctx, pr, shape, body, shape.InputTokens)
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
func (p *Prepared) confirmText(ctx context.Context, pr plan.Prompt, shape plan.Shape, d target.Dialect, m *material) (*material, error) {
	if err := p.setCounter(ctx, pr, shape, d, m); err != nil {
		return nil, err
	}
	p.server.InputForm, p.server.TemplateExtra = "text", m.texts.Overhead
	for range 2 {
		body, err := m.body(ctx, p.client, shape, p.probeDraw(pr))
		if err != nil {
			return nil, err
		}
		row := p.probe(ctx, pr, shape, body, shape.InputTokens)
		switch {
		case row.Outcome == record.OK:
			p.checkUsage(row)
			p.checkOutput(row)
			return m, nil
		case p.refusesExact(m, row):
			m.exact = false
		case row.Outcome == record.TokenMismatch:
			return nil, fmt.Errorf("%w: %s", errNoExactLength, row.Error)
		default:
			return nil, p.errProbe(row)
		}
	}
	return nil, errNoExactLength
}

// refusesExact says whether the server may have refused a chat for asking for an
// exact length, and warns of it: then the same is asked without.
func (p *Prepared) refusesExact(m *material, r record.Request) bool {
	if !m.exact || r.Outcome != record.ClientError || r.Status == nil || (*r.Status != http.StatusBadRequest && *r.Status != http.StatusUnprocessableEntity) {
		return false
	}
	p.warnings = append(p.warnings, "the server refuses ignore_eos and min_tokens: outputs are of at most the asked length")
	return true
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

// setCounter sets how the tokens of a text are counted: by the server's tokenise
// endpoint or, without one, by words, after two answers' usage has shown that a
// word is a token.
func (p *Prepared) setCounter(ctx context.Context, pr plan.Prompt, shape plan.Shape, d target.Dialect, m *material) error {
	m.texts.Count = func(ctx context.Context, text string) (int, error) {
		ids, err := p.client.Tokenise(ctx, d, text, true)
		return len(ids), err
	}
	if m.chat {
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
	p.server.Tokeniser = "usage"
	return p.calibrate(ctx, pr, shape, m)
}

// calibrate learns from the usage of two answers what the server adds to a text
// of plain words, and refuses a server in which a word is not one token.
func (p *Prepared) calibrate(ctx context.Context, pr plan.Prompt, shape plan.Shape, m *material) error {
	if len(m.texts.Pieces) > 0 { // only plain words can be counted without a tokeniser
		m.texts.Pieces = nil
		p.warnings = append(p.warnings, fmt.Sprintf("prompt %q: its text file is not used: no tokenise endpoint of the server answers, and only built-in words can be counted by its usage", pr.Name))
	}
	m.texts.Count = func(_ context.Context, text string) (int, error) { return len(prompt.Split(text)), nil }
	var counts [2]int
	lengths := [2]int{8, 16}
	for i, n := range lengths {
		s := shape
		s.InputTokens = n
		body, err := m.body(ctx, p.client, s, p.probeDraw(pr))
		if err != nil {
			return err
		}
		row := p.probe(ctx, pr, s, body, 0)
		if p.refusesExact(m, row) {
			m.exact = false
			return p.calibrate(ctx, pr, shape, m)
		}
		if row.Outcome != record.OK {
			return p.errProbe(row)
		}
		if row.InputTokens == nil {
			return fmt.Errorf("%w: it has no tokenise endpoint and its answers have no usage", errNoExactLength)
		}
		counts[i] = *row.InputTokens
	}
	if counts[1]-counts[0] != lengths[1]-lengths[0] {
		return fmt.Errorf("%w: %d more words are %d more tokens in its usage", errNoExactLength, lengths[1]-lengths[0], counts[1]-counts[0])
	}
	extra := counts[0] - lengths[0]
	m.texts.Overhead = max(0, extra)
	m.texts.Count = func(_ context.Context, text string) (int, error) { return len(prompt.Split(text)) + extra, nil }
	return nil
}

func (p *Prepared) probeDraw(pr plan.Prompt) func(int) [32]byte {
	key := plan.Key{Phase: string(record.Probe), Ladder: pr.Name, Index: len(p.probes)}
	return func(input int) [32]byte { return p.cfg.Plan.Draw(key, input) }
}

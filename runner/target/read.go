package target

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// Want is what a success must look like.
type Want struct {
	Inputs       int
	InputTokens  int // over all inputs; 0: not known, as in a probe
	OutputTokens int // the most that was asked; 0: nothing was
}

// Answer is a Reply looked at.
type Answer struct {
	Outcome      record.Outcome
	Error        string // what the server or the connection said, bounded
	InputsDone   int
	InputTokens  *int
	OutputTokens *int
	CachedTokens *int
	UsageSource  record.UsageSource
	RetryAfterS  *float64
	Dimensions   int          // of the vectors; 0 for generated text
	Limit        record.Limit // that a too_long met

	// Of generated text. The times and gaps are those of a stream.
	FinishReason string
	FirstToken   time.Time // zero where none was seen to come
	Chunks       *int      // with generated text
	GapsS        []float64 // seconds between them

	Timings Timings
}

// Timings are what a server says of its own time with a request, in seconds; nil
// is not said.
type Timings struct{ TotalS, TokenisationS, QueueS, InferenceS *float64 }

// Read decides what a reply is. A success whose input tokens are not those
// wanted is a token_mismatch; one without usage stays a success with its tokens
// unknown.
func (c *Client) Read(r Reply, want Want) Answer {
	switch {
	case r.Err != nil:
		return c.readBroken(r)
	case r.Status != http.StatusOK:
		return c.readRefusal(r)
	}
	a, err := c.readBody(r, want)
	a.FinishReason = string(c.scrub.Clean([]byte(a.FinishReason)))
	if err == nil {
		err = a.checkUsage(want)
	}
	if err != nil {
		c.fail(&a, err, r.Body)
		return a
	}
	a.Outcome = record.OK
	if want.InputTokens > 0 && a.InputTokens != nil && *a.InputTokens != want.InputTokens {
		a.Outcome = record.TokenMismatch
		a.Error = fmt.Sprintf("the server counted %d input tokens, planned were %d", *a.InputTokens, want.InputTokens)
	}
	return a
}

// readBody reads an answer of status 200 in the form of the API.
func (c *Client) readBody(r Reply, want Want) (Answer, error) {
	var a Answer
	var err error
	switch {
	case c.api == plan.TEIEmbed:
		a, err = readVectors(r.Body, want)
		a.fromHeaders(r.Header)
	case !c.api.Generates():
		a, err = readEmbeddings(r.Body, want)
	case r.Arrivals != nil && !isJSON(r.Body):
		a, err = readStreamed(r)
	default:
		a, err = readGenerated(r.Body, want)
	}
	if a.UsageSource == "" {
		a.UsageSource = record.NoUsage
		if a.InputTokens != nil || a.OutputTokens != nil {
			a.UsageSource = record.BodyUsage
		}
	}
	return a, err
}

// isJSON says whether a body that was to be a stream is one answer instead.
func isJSON(body []byte) bool {
	b := trimSpace(body)
	return len(b) > 0 && b[0] == '{' && json.Valid(b)
}

// readBroken names what broke off. What a stream had brought by then is kept, and
// where the server said in it why it fails, that is the outcome.
func (c *Client) readBroken(r Reply) Answer {
	text := r.Err.Error()
	if c.program == nil && c.base.String() != c.shown {
		text = unwrapURL(r.Err) // the URL that net/http puts in front is a secret
	}
	var a Answer
	if len(r.Arrivals) > 0 && r.Status == http.StatusOK {
		s, err := readEvents(r)
		if a = s.a; err != nil {
			c.fail(&a, err, r.Body)
			return a
		}
	}
	a.Outcome, a.Error = classifyError(r), c.said([]byte(text), errorBytes)
	return a
}

// readRefusal names an answer that is no success.
func (c *Client) readRefusal(r Reply) Answer {
	said := c.said(r.Body, errorBytes)
	if r.Status/100 == 3 {
		said = c.said(fmt.Appendf(nil, "redirected to %q, which is not followed: set target.url to the server itself", r.Header.Get("Location")), errorBytes)
	}
	a := Answer{Outcome: classifyStatus(r.Status, r.Body), Error: said, RetryAfterS: retryAfter(r.Header, r.Done)}
	if a.Outcome == record.TooLong {
		a.Limit = limitOf(r.Status, r.Body)
	}
	return a
}

// fail makes the answer a failure behind status 200.
func (c *Client) fail(a *Answer, err error, body []byte) {
	a.Outcome, a.Error = record.BadResponse, c.said([]byte(err.Error()+": "+string(body[:min(len(body), 2*errorBytes)])), errorBytes)
	if said, ok := errors.AsType[saidError](err); ok {
		a.Error = c.said([]byte(err.Error()+": "+said.text), errorBytes)
		a.Outcome = classifyStatus(http.StatusOK, []byte(said.text))
		if a.Outcome == record.TooLong {
			a.Limit = limitOf(http.StatusOK, []byte(said.text))
		}
	}
}

// unwrapURL is an error's text without the address that net/http puts before it.
func unwrapURL(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// saidError is an error object inside an answer of status 200.
type saidError struct{ text string }

func (e saidError) Error() string { return "an error behind status 200" }

type usage struct {
	Prompt     *int `json:"prompt_tokens"`
	Completion *int `json:"completion_tokens"`
	Details    *struct {
		Cached *int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func (u *usage) fill(a *Answer) {
	if u == nil {
		return
	}
	a.InputTokens = u.Prompt
	if u.Details != nil {
		a.CachedTokens = u.Details.Cached
	}
}

// checkUsage refuses counts that can't be: negative ones, and more output than
// was asked. What is refused is not kept.
func (a *Answer) checkUsage(want Want) error {
	for _, n := range []**int{&a.InputTokens, &a.OutputTokens, &a.CachedTokens} {
		if *n != nil && **n < 0 {
			v := **n
			*n = nil
			return fmt.Errorf("its usage has a count of %d", v)
		}
	}
	if n := a.OutputTokens; want.OutputTokens > 0 && n != nil && *n > want.OutputTokens {
		a.OutputTokens = nil
		return fmt.Errorf("its usage has %d output tokens, asked were at most %d", *n, want.OutputTokens)
	}
	return nil
}

// said gives the error object of a body, where it has one.
func said(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return saidError{string(raw)}
}

// saysAnything says whether a message has a field that an answer can be in.
func saysAnything(message map[string]json.RawMessage) bool {
	for _, name := range answerFields() {
		if raw, ok := message[name]; ok && string(raw) != "null" {
			return true
		}
	}
	return false
}

// readGenerated reads a chat or a completion that came as one body.
func readGenerated(body []byte, want Want) (Answer, error) {
	var a Answer
	var in struct {
		Error   json.RawMessage `json:"error"`
		Usage   *usage          `json:"usage"`
		Choices []struct {
			FinishReason *string                    `json:"finish_reason"`
			Message      map[string]json.RawMessage `json:"message"`
			Text         *string                    `json:"text"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return a, fmt.Errorf("no JSON of a chat or a completion (%w)", err)
	}
	if err := said(in.Error); err != nil {
		return a, err
	}
	in.Usage.fill(&a)
	if in.Usage != nil {
		a.OutputTokens = in.Usage.Completion
	}
	if len(in.Choices) != want.Inputs {
		return a, fmt.Errorf("%d choices for %d asked", len(in.Choices), want.Inputs)
	}
	for _, ch := range in.Choices {
		switch {
		case ch.FinishReason == nil || *ch.FinishReason == "":
			return a, errors.New("no finish_reason: the answer was cut short")
		case *ch.FinishReason == "error" || *ch.FinishReason == "abort":
			return a, fmt.Errorf("finish_reason %q", *ch.FinishReason)
		case !saysAnything(ch.Message) && ch.Text == nil:
			return a, errors.New("a choice with neither content nor reasoning nor a tool call")
		}
		a.FinishReason = Excerpt([]byte(*ch.FinishReason), 40)
		a.InputsDone++
	}
	return a, nil
}

// fromHeaders takes what TEI says in headers: the tokens, special ones included,
// and its own times in milliseconds.
func (a *Answer) fromHeaders(h http.Header) {
	if n, err := strconv.Atoi(h.Get("X-Compute-Tokens")); err == nil && n >= 0 {
		a.InputTokens, a.UsageSource = &n, record.HeaderUsage
	}
	ms := func(name string) *float64 {
		x, err := strconv.ParseFloat(h.Get(name), 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return nil
		}
		x /= 1000
		return &x
	}
	a.Timings = Timings{ms("X-Total-Time"), ms("X-Tokenization-Time"), ms("X-Queue-Time"), ms("X-Inference-Time")}
}

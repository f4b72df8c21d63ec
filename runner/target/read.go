package target

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

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
	RetryAfterS  *float64
	Dimensions   int // of the vectors; 0 for chats
}

// Read decides what a reply is. A success whose input tokens are not those
// wanted is a token_mismatch; one without usage stays a success with its tokens
// unknown.
func (c *Client) Read(r Reply, want Want) Answer {
	if r.Err != nil {
		text := r.Err.Error()
		if c.base.String() != c.shown {
			text = unwrapURL(r.Err) // the URL that net/http puts in front is a secret
		}
		return Answer{Outcome: classifyError(r), Error: Excerpt([]byte(text), errorBytes)}
	}
	if r.Status != http.StatusOK {
		said := Excerpt(r.Body, errorBytes)
		if r.Status/100 == 3 {
			said = Excerpt(fmt.Appendf(nil, "redirected to %q, which is not followed: set target.url to the server itself", r.Header.Get("Location")), errorBytes)
		}
		return Answer{Outcome: classifyStatus(r.Status, r.Body), Error: said, RetryAfterS: retryAfter(r.Header, r.Done)}
	}
	read := readEmbeddings
	if c.api == plan.OpenAIChat {
		read = readChat
	}
	a, err := read(r.Body, want)
	if err == nil {
		err = a.checkUsage(want)
	}
	if err != nil {
		a.Outcome, a.Error = record.BadResponse, Excerpt([]byte(err.Error()+": "+string(r.Body[:min(len(r.Body), errorBytes)])), errorBytes)
		if said, ok := errors.AsType[saidError](err); ok {
			a.Outcome = classifyStatus(http.StatusOK, []byte(said.text))
		}
		return a
	}
	a.Outcome = record.OK
	if want.InputTokens > 0 && a.InputTokens != nil && *a.InputTokens != want.InputTokens {
		a.Outcome = record.TokenMismatch
		a.Error = fmt.Sprintf("the server counted %d input tokens, planned were %d", *a.InputTokens, want.InputTokens)
	}
	return a
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

func readEmbeddings(body []byte, want Want) (Answer, error) {
	var a Answer
	var in struct {
		Error json.RawMessage `json:"error"`
		Usage *usage          `json:"usage"`
		Data  []struct {
			Index     *int            `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return a, fmt.Errorf("no JSON of embeddings (%w)", err)
	}
	if err := said(in.Error); err != nil {
		return a, err
	}
	in.Usage.fill(&a)
	seen := make([]bool, want.Inputs)
	for i, d := range in.Data {
		n, err := checkVector(d.Embedding)
		if err != nil {
			return a, fmt.Errorf("vector %d: %w", i, err)
		}
		if a.Dimensions == 0 {
			a.Dimensions = n
		}
		if n != a.Dimensions {
			return a, fmt.Errorf("vector %d has %d dimensions, those before it %d", i, n, a.Dimensions)
		}
		if d.Index != nil {
			if *d.Index < 0 || *d.Index >= want.Inputs || seen[*d.Index] {
				return a, fmt.Errorf("vector %d has index %d, which is out of range or came twice", i, *d.Index)
			}
			seen[*d.Index] = true
		}
		a.InputsDone++
	}
	if a.InputsDone != want.Inputs {
		return a, fmt.Errorf("%d vectors for %d inputs", a.InputsDone, want.Inputs)
	}
	return a, nil
}

// checkVector counts a vector's numbers without converting them: the decoder
// has seen that they are JSON. It fails on a vector that is empty, all zero, not
// finite as float32, or no list of numbers.
func checkVector(raw json.RawMessage) (dimensions int, err error) {
	if len(raw) < 3 || raw[0] != '[' {
		return 0, errors.New("no list of numbers")
	}
	nonZero, start := false, 1
	for i := 1; i < len(raw); i++ {
		if raw[i] != ',' && raw[i] != ']' {
			continue
		}
		nz, err := checkNumber(raw[start:i])
		if err != nil {
			return 0, err
		}
		nonZero = nonZero || nz
		dimensions++
		start = i + 1
	}
	if !nonZero {
		return 0, errors.New("all its numbers are zero")
	}
	return dimensions, nil
}

func checkNumber(b []byte) (nonZero bool, err error) {
	exponent := false
	for _, ch := range b {
		switch {
		case ch >= '1' && ch <= '9':
			nonZero = true
		case ch == 'e' || ch == 'E':
			exponent = true
		case ch == '0' || ch == '-' || ch == '+' || ch == '.' || ch == ' ' || ch == '\n' || ch == '\r' || ch == '\t':
		default:
			return false, errors.New("it holds something that is no number")
		}
	}
	if exponent {
		f, err := strconv.ParseFloat(string(trimSpace(b)), 32)
		if err != nil {
			return false, fmt.Errorf("a number is not finite: %w", err)
		}
		return f != 0, nil
	}
	return nonZero, nil
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] <= ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// saysAnything says whether a message has a field that an answer can be in.
func saysAnything(message map[string]json.RawMessage) bool {
	for _, name := range []string{"content", "reasoning_content", "reasoning", "tool_calls", "function_call", "refusal"} {
		if raw, ok := message[name]; ok && string(raw) != "null" {
			return true
		}
	}
	return false
}

func readChat(body []byte, want Want) (Answer, error) {
	var a Answer
	var in struct {
		Error   json.RawMessage `json:"error"`
		Usage   *usage          `json:"usage"`
		Choices []struct {
			FinishReason *string                    `json:"finish_reason"`
			Message      map[string]json.RawMessage `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return a, fmt.Errorf("no JSON of a chat (%w)", err)
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
		case !saysAnything(ch.Message):
			return a, errors.New("a choice whose message has neither content nor reasoning nor a tool call")
		}
		a.InputsDone++
	}
	return a, nil
}

package target

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"
)

// Arrival says when the first End bytes of a streamed body had come.
type Arrival struct {
	End int
	At  time.Time
}

// readChunk is how much of a stream is read at once.
const readChunk = 32 << 10

// readStream reads a body as it comes, and notes when what came. alive is called
// after each read that brought something.
func readStream(resp *http.Response, limit int64, alive func()) ([]byte, []Arrival, error) {
	defer resp.Body.Close() //nolint:errcheck // read to its end or given up; nothing is left to lose
	var body []byte
	var arrivals []Arrival
	for {
		body = slices.Grow(body, readChunk)
		n, err := resp.Body.Read(body[len(body):cap(body)])
		if n > 0 {
			body = body[:len(body)+n]
			arrivals = append(arrivals, Arrival{len(body), time.Now()})
			alive()
		}
		switch {
		case int64(len(body)) > limit:
			return body, arrivals, errTooLarge
		case errors.Is(err, io.EOF):
			return body, arrivals, nil
		case err != nil:
			return body, arrivals, err
		}
	}
}

// event is one event of a stream of server-sent events.
type event struct {
	name string
	data []byte
	at   time.Time // when its last line of data had come
}

// events cuts a body into its events. Comments are left out, lines may end in CRLF,
// an event's data may stand on several lines, and what is JSON without a field name
// counts as data: servers fail that way in the midst of a stream.
func events(r Reply) []event {
	var out []event
	var now event
	next := 0 // into the arrivals
	when := func(end int) time.Time {
		for next < len(r.Arrivals) && r.Arrivals[next].End < end {
			next++
		}
		if next < len(r.Arrivals) {
			return r.Arrivals[next].At
		}
		return r.Done
	}
	flush := func() {
		if now.data != nil {
			out = append(out, now)
		}
		now = event{}
	}
	for at := 0; at < len(r.Body); {
		line := r.Body[at:]
		end := len(r.Body)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, end = line[:i], at+i+1
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		at = end
		field, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case len(line) == 0:
			flush()
		case line[0] == '{':
			flush()
			now = event{data: line, at: when(end)}
			flush()
		case string(field) == "data":
			if now.data != nil {
				now.data = append(slices.Clip(now.data), '\n')
			}
			now.data = append(now.data, bytes.TrimPrefix(value, []byte(" "))...)
			if now.data == nil {
				now.data = []byte{}
			}
			now.at = when(end)
		case string(field) == "event":
			now.name = string(bytes.TrimSpace(value))
		}
	}
	flush()
	return out
}

// chunk is one piece of a streamed chat or completion.
type chunk struct {
	Error   json.RawMessage `json:"error"`
	Usage   *usage          `json:"usage"`
	Choices []struct {
		FinishReason *string                    `json:"finish_reason"`
		Delta        map[string]json.RawMessage `json:"delta"`
		Message      map[string]json.RawMessage `json:"message"` // a server that does not stream after all
		Text         *string                    `json:"text"`
	} `json:"choices"`
}

// doneMark ends a stream. It also follows an error, so that it proves nothing.
const doneMark = "[DONE]"

// maxChunks bounds the gaps that are kept of one answer.
const maxChunks = 1 << 20

// stream is an answer in the making.
type stream struct {
	a       Answer
	said    bool // something that an answer can be in was there, if only empty
	last    time.Time
	unknown int // events that are no JSON
}

// readStreamed reads the answer that came in chunks: the first generated token of
// any channel, the gaps between chunks that have one, the reason why it ended and
// the last usage that was given, whichever chunk it stands in.
func readStreamed(r Reply) (Answer, error) {
	s, err := readEvents(r)
	switch {
	case err != nil:
		return s.a, err
	case s.unknown > 0 && s.a.FinishReason == "":
		return s.a, errors.New("a stream of which an event is no JSON")
	case s.a.FinishReason == "":
		return s.a, errors.New("a stream without finish_reason: the answer was cut short")
	case s.a.FinishReason == "error" || s.a.FinishReason == "abort":
		return s.a, errors.New("finish_reason " + Excerpt([]byte(s.a.FinishReason), 20))
	case !s.said:
		return s.a, errors.New("a stream with neither content nor reasoning nor a tool call")
	}
	s.a.InputsDone = 1
	return s.a, nil
}

// readEvents takes in all events, up to the one that says that the answer failed.
func readEvents(r Reply) (*stream, error) {
	s := &stream{}
	for _, e := range events(r) {
		if string(bytes.TrimSpace(e.data)) == doneMark {
			continue
		}
		if err := s.take(e); err != nil {
			return s, err
		}
	}
	return s, nil
}

// take adds one event.
func (s *stream) take(e event) error {
	var c chunk
	if err := json.Unmarshal(e.data, &c); err != nil {
		if e.name == "error" {
			return saidError{string(e.data)}
		}
		s.unknown++
		return nil
	}
	if err := said(c.Error); err != nil {
		return err
	}
	if e.name == "error" {
		return saidError{string(e.data)}
	}
	if c.Usage != nil {
		c.Usage.fill(&s.a)
		s.a.OutputTokens = c.Usage.Completion
	}
	for _, ch := range c.Choices {
		if ch.FinishReason != nil && *ch.FinishReason != "" {
			s.a.FinishReason = Excerpt([]byte(*ch.FinishReason), 40)
		}
		s.said = s.said || saysAnything(ch.Delta) || saysAnything(ch.Message) || ch.Text != nil
		if generated(ch.Delta) || ch.Text != nil && *ch.Text != "" {
			s.token(e.at)
		}
	}
	return nil
}

// token notes a chunk with generated text.
func (s *stream) token(at time.Time) {
	if s.a.Chunks == nil {
		s.a.Chunks = new(int)
		s.a.FirstToken = at
	} else if len(s.a.GapsS) < maxChunks {
		s.a.GapsS = append(s.a.GapsS, at.Sub(s.last).Seconds())
	}
	*s.a.Chunks++
	s.last = at
}

// generated says whether a message has text or a call that the model made: a chunk
// with the role alone, or with an empty content, has none.
func generated(message map[string]json.RawMessage) bool {
	for _, name := range answerFields() {
		switch raw := message[name]; string(bytes.TrimSpace(raw)) {
		case "", "null", `""`, "[]", "{}":
		default:
			return true
		}
	}
	return false
}

// answerFields are the channels that a generated token can come in.
func answerFields() []string {
	return []string{"content", "reasoning_content", "reasoning", "tool_calls", "function_call", "refusal"}
}

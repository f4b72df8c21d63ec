package sim

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"rung/spec/plan"
)

// stream answers with server-sent events: the role, the tokens as they come, the
// reason of the end, and the usage where it was asked for. Nothing goes out before the
// sequence has its memory, so that a refusal is still one.
func (t *talk) stream(j *job) error {
	c := t.c
	output := t.output
	if t.half() {
		output = max(1, output/2)
	}
	failing := c.fault.Kind == plan.FaultStreamError
	if failing {
		output = 0
	}
	err := c.p.engine.generate(c.r.Context(), j, output, progress{admitted: t.open, token: func(n int) error { return t.token(n == output) }})
	switch {
	case err != nil:
		return err
	case c.fault.Kind == plan.FaultResetMid:
		return errBroken
	case c.fault.Kind == plan.FaultTruncated:
	case failing:
		err = t.event(c.errorEvent())
	default:
		err = t.end()
	}
	if err == nil && c.fault.Kind != plan.FaultTruncated {
		err = t.event([]byte("[DONE]"))
	}
	if err == nil {
		c.log(nil)
	}
	return err
}

// open sends the headers and, of a chat, the chunk that has the role alone.
func (t *talk) open() error {
	t.c.begun = true
	h := t.c.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	t.c.w.WriteHeader(http.StatusOK)
	if !t.chat {
		return t.flush()
	}
	return t.chunk(t.frame(map[string]any{"delta": map[string]string{"role": "assistant", "content": ""}}, ""))
}

// token sends a token, or keeps it until its chunk is full.
func (t *talk) token(last bool) error {
	c := t.c
	t.generated(1)
	t.pending++
	if t.pending < c.params().TokensPerChunk && !last {
		return nil
	}
	text := strings.Repeat(aToken, t.pending)
	t.pending = 0
	choice := map[string]any{"text": text}
	if t.chat {
		choice = map[string]any{"delta": map[string]string{"content": text}}
	}
	err := t.chunk(t.frame(choice, ""))
	at := c.p.s.since(time.Now())
	if c.entry.SentS == 0 {
		c.entry.SentS = at
	}
	if c.params().LogChunks {
		c.entry.ChunksS = append(c.entry.ChunksS, at)
	}
	return err
}

// end sends why the answer ended, and the usage.
func (t *talk) end() error {
	t.done()
	choice := map[string]any{"text": ""}
	if t.chat {
		choice = map[string]any{"delta": map[string]string{}}
	}
	if err := t.chunk(t.frame(choice, t.reason)); err != nil || !t.usage || t.c.fault.Kind == plan.FaultNoUsage {
		return err
	}
	page := t.frame(map[string]any{}, "")
	page["choices"] = []any{}
	t.c.usage(page, t.output)
	return t.chunk(page)
}

func (t *talk) chunk(page map[string]any) error {
	return t.event(bytes.TrimSpace(marshal(page)))
}

func (t *talk) event(b []byte) error {
	if _, err := t.c.w.Write([]byte("data: " + string(b) + "\n\n")); err != nil {
		return err
	}
	return t.flush()
}

func (t *talk) flush() error { return http.NewResponseController(t.c.w).Flush() }

package sim

import (
	"encoding/hex"
	"encoding/json"
	"strings"

	"rung/spec/plan"
)

// asked is what a chat and a completion have in common.
type asked struct {
	Model         string `json:"model"`
	MaxTokens     *int   `json:"max_tokens"`
	MaxCompletion *int   `json:"max_completion_tokens"`
	MinTokens     int    `json:"min_tokens"`
	IgnoreEOS     bool   `json:"ignore_eos"`
	N             *int   `json:"n"`
	Stream        bool   `json:"stream"`
	Options       struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// defaultCompletion is what vLLM generates for a completion that names no length.
const defaultCompletion = 16

func (c *call) chat() error {
	var req struct {
		asked
		Messages []message `json:"messages"`
	}
	if err := c.decode(&req); err != nil {
		return err
	}
	return c.generate(req.asked, 0, func() (input, error) { return c.p.s.chatInput(req.Messages), nil })
}

func (c *call) completion() error {
	var req struct {
		asked
		Prompt json.RawMessage `json:"prompt"`
	}
	if err := c.decode(&req); err != nil {
		return err
	}
	return c.generate(req.asked, defaultCompletion, func() (input, error) {
		ins, err := c.p.s.inputs(req.Prompt)
		switch {
		case err != nil:
			return input{}, err
		case len(ins) > 1:
			return input{}, bad("the simulated server completes one prompt a request")
		}
		return ins[0], nil
	})
}

// generate checks what was asked and answers in one piece or as a stream. most is the
// length of an answer for which none is asked; 0: it must be.
func (c *call) generate(req asked, most int, prompt func() (input, error)) error {
	s := c.p.s
	if err := s.checkModel(req.Model); err != nil {
		return err
	}
	for _, n := range []*int{req.MaxTokens, req.MaxCompletion} {
		if n != nil {
			most = *n
		}
	}
	switch {
	case most < 1:
		return bad("max_tokens must be 1 or more")
	case req.MinTokens < 0 || req.MinTokens > most:
		return bad("min_tokens must be between 0 and max_tokens")
	case req.N != nil && *req.N != 1:
		return bad("the simulated server gives one answer: n must be 1")
	}
	in, err := prompt()
	if err != nil {
		return err
	}
	if err := s.checkLength(in.n + most); err != nil {
		return err
	}
	j := c.job([]input{in})
	if err := c.strike(true); err != nil {
		return err
	}
	output, reason := c.length(req, most)
	t := talk{c: c, chat: strings.Contains(c.r.URL.Path, "chat"), output: output, reason: reason, usage: req.Options.Usage}
	if req.Stream {
		return t.stream(j)
	}
	return t.whole(j)
}

// length is how long an answer gets, and why it ends there: the model's own end, which
// ignore_eos and min_tokens put off, or one that heeds neither.
func (c *call) length(req asked, most int) (output int, reason string) {
	p := c.params()
	if p.EarlyStop > 0 && c.draw("early stop") < p.EarlyStop {
		return max(1, most/3), stopped
	}
	if own := max(p.AnswerTokens, req.MinTokens); p.AnswerTokens > 0 && !req.IgnoreEOS && own < most {
		return own, stopped
	}
	return most, tooLong
}

// Why an answer ended.
const (
	stopped = "stop"
	tooLong = "length"
)

// talk is one answer in the making.
type talk struct {
	c      *call
	chat   bool
	output int
	reason string
	usage  bool // a stream ends with it

	pending int // tokens that wait for their chunk
}

// aToken is the text of each.
const aToken = "simulated "

// generated counts tokens.
func (t *talk) generated(n int) {
	t.c.entry.OutputTokens += n
	t.c.p.engine.counts.add(func(c *counts) { c.outputTokens += n })
}

// done counts an answer that came to its end.
func (t *talk) done() {
	t.c.p.engine.counts.add(func(c *counts) {
		c.promptTokens += t.c.entry.InputTokens
		if t.reason == stopped {
			c.stops++
		} else {
			c.lengths++
		}
	})
}

func (t *talk) whole(j *job) error {
	c := t.c
	if err := c.p.engine.generate(c.r.Context(), j, t.output, progress{}); err != nil {
		return err
	}
	t.generated(t.output)
	t.done()
	text := strings.TrimSpace(strings.Repeat(aToken, t.output))
	choice := map[string]any{"text": text}
	if t.chat {
		choice = map[string]any{"message": map[string]string{"role": "assistant", "content": text}}
	}
	page := t.frame(choice, t.reason)
	if t.chat {
		page["object"] = "chat.completion"
	}
	c.usage(page, t.output)
	return c.answer(page)
}

// frame is an answer, or a chunk of one, around its one choice.
func (t *talk) frame(choice map[string]any, reason string) map[string]any {
	choice["index"] = 0
	choice["finish_reason"] = nil
	if reason != "" {
		choice["finish_reason"] = reason
	}
	id, object := "cmpl-", "text_completion"
	if t.chat {
		id, object = "chatcmpl-", "chat.completion.chunk"
	}
	return map[string]any{"id": id + hex.EncodeToString(t.c.digest[:12]), "object": object, "created": 0, "model": t.c.p.s.cfg.Model, "choices": []any{choice}}
}

// half says whether the request's fault cuts its answer in two.
func (t *talk) half() bool {
	return t.c.fault.Kind == plan.FaultTruncated || t.c.fault.Kind == plan.FaultResetMid
}

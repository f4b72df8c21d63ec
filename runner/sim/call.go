package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"rung/spec/plan"
)

// call is one inference request.
type call struct {
	p      *process
	w      http.ResponseWriter
	r      *http.Request
	form   form
	body   []byte
	digest [32]byte
	entry  Entry
	fault  plan.Fault // its kind is empty where there is none
	begun  bool       // a stream has its headers
}

// statusClientGone stands in the log where a client left or the server closed
// before the answer; the figure is nginx's.
const statusClientGone = 499

// errBroken ends a request without a further byte.
var errBroken = errors.New("the connection was broken on purpose")

// infer reads a request, works, answers and logs.
func (p *process) infer(f form, work func(*call) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{p: p, w: w, r: r, form: f}
		c.entry = Entry{Path: r.URL.Path, Status: http.StatusOK, Request: p.s.faults.number(), ReceivedS: p.s.since(time.Now())}
		w.Header().Set("Server", serverName)
		err := c.read()
		if err == nil {
			err = work(c)
		}
		c.finish(err)
	}
}

func (c *call) read() (err error) {
	c.body, err = io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, maxBody))
	c.digest = sha256.Sum256(c.body)
	c.entry.BodySHA256 = hex.EncodeToString(c.digest[:])
	return err
}

func (c *call) params() plan.Simulator { return c.p.s.cfg.Params }

// decode reads the body as JSON.
func (c *call) decode(into any) error {
	if err := json.Unmarshal(c.body, into); err != nil {
		return bad("the body is no JSON: %v", err)
	}
	return nil
}

// finish ends a request: err is what kept it from its answer.
func (c *call) finish(err error) {
	_, oom := errors.AsType[oomError](err)
	switch {
	case err == nil:
	case errors.Is(err, errBroken):
		c.vanish(0, err)
	case c.r.Context().Err() != nil || errors.Is(err, context.Canceled) || c.begun:
		c.p.engine.counts.add(func(n *counts) { n.aborts++ })
		c.vanish(statusClientGone, err)
	case oom && c.params().OOMKills:
		c.p.die()
		c.vanish(0, err)
	default:
		c.refuse(err)
	}
}

// vanish logs and breaks the connection: an answer would be taken for one of the
// model's.
func (c *call) vanish(status int, err error) {
	c.entry.Status = status
	c.log(err)
	panic(http.ErrAbortHandler)
}

// refuse answers that it failed.
func (c *call) refuse(err error) {
	c.p.engine.counts.add(func(n *counts) { n.bad++ })
	f := failureOf(c.params(), err)
	status, body := f.body(c.form)
	c.entry.Status = status
	c.log(err)
	if f.raw {
		f.send(c.w)
		return
	}
	write(c.w, status, body)
}

// log writes the request's line. It comes before the last byte of the answer: who has
// that finds the line.
func (c *call) log(err error) {
	if err != nil {
		c.entry.Error = err.Error()
	}
	c.entry.DoneS = c.p.s.since(time.Now())
	c.p.s.log.add(c.entry)
}

// answer sends a success that is whole.
func (c *call) answer(v any) error {
	if err := c.r.Context().Err(); err != nil {
		return err
	}
	b := marshal(v)
	c.entry.SentS = c.p.s.since(time.Now())
	switch c.fault.Kind {
	case plan.FaultStreamError:
		b = c.errorEvent()
	case plan.FaultTruncated:
		b = b[:len(b)/2]
	case plan.FaultResetMid:
		c.w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		c.part(b[:len(b)/2])
		return errBroken
	default:
	}
	c.log(nil)
	writeBytes(c.w, http.StatusOK, "application/json", b)
	return nil
}

// part writes what must reach the client before the connection breaks.
func (c *call) part(b []byte) {
	writeBytes(c.w, http.StatusOK, "application/json", b)
	_ = http.NewResponseController(c.w).Flush() // a client that went away is its own affair
}

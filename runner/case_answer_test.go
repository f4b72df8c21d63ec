package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"rung/runner/memnet"
	"rung/sinks/record"
	"rung/spec/plan"
)

// sse is a streamed answer of some chunks with text and a usage.
func sse(chunks, input, output int) string {
	var b strings.Builder
	for range chunks {
		fmt.Fprint(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":null}]}\n\n")
	}
	fmt.Fprint(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\n")
	fmt.Fprintf(&b, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n", input, output)
	return b.String()
}

// streams asks for streamed chats of 20 input tokens and some output tokens.
func streams(n *memnet.Listener, output int, l plan.Ladder) Config {
	cfg := chatConfig(n, output)
	l.Prompt.Stream = true
	for i := range l.Rungs {
		l.Rungs[i].Shape.InputTokens, l.Rungs[i].Shape.OutputTokens = 20, output
	}
	cfg.Cell.Ladders = []plan.Ladder{l}
	return cfg
}

// An engine that dies part-way up a ladder fails fast: its failures raise no
// throughput, the ladder ends at that rung by the declared rule, and the run as one
// whose server is gone.
func TestCase04(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.n <= 30 {
				return said{after: 100 * time.Millisecond}
			}
			_ = f.net.Close()
			return said{status: 500, body: `{"error":{"message":"EngineDeadError: EngineCore encountered an issue"}}`, header: map[string]string{"Connection": "close"}}
		}
		p, out := prepare(t, config(f.net, loadLadder(20, 1, 2, 4))), &tape{}
		if _, err := p.Run(t.Context(), t.Context(), out.put); !errors.Is(err, ErrServerGone) {
			t.Errorf("%v", err)
		}
		edges := out.events(record.EdgeFound)
		if len(edges) != 1 || edges[0].Value != 2 || !strings.HasPrefix(edges[0].Reason, "outcome refused in ") {
			t.Errorf("%+v", edges)
		}
		if ends := out.reasons(record.LadderEnd); len(ends) != 1 || !strings.HasPrefix(ends[0], "server_gone") {
			t.Errorf("%q", ends)
		}
		below := out.rows(phase(record.Measure), func(r record.Request) bool { return r.Value == 1 })
		if len(below) != 20 || count(below, record.OK) != 20 {
			t.Errorf("the rung before: %d rows, %d ok", len(below), count(below, record.OK))
		}
		rows := out.rows(phase(record.Measure), func(r record.Request) bool { return r.Value > 1 })
		if count(rows, record.ServerError) != 2 || count(rows, record.Refused) == 0 || rows[0].Value != 2 || rows[len(rows)-1].Value != 2 {
			t.Errorf("%d errors, %d refused of %d", count(rows, record.ServerError), count(rows, record.Refused), len(rows))
		}
		var flow record.Flow
		flow.Add(record.RoundOf(rows), func(i int) float64 {
			if rows[i].Outcome == record.OK {
				return 1
			}
			return 0
		})
		if flow.Work != float64(count(rows, record.OK)) || flow.Rate() > 20 {
			t.Errorf("%g requests, %g a second: two at a time of 100 ms are 20", flow.Work, flow.Rate())
		}
	})
}

// A parameter that the server refuses is found by the requests before the run, and is
// no first rung that fails.
func TestCase16(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if _, ok := q.fields["dimensions"]; ok {
				return said{status: 400, body: `{"object":"error","message":"dimensions is currently not supported","type":"BadRequestError","code":400}`}
			}
			return said{}
		}
		cfg := config(f.net, batchLadder("batch", 1, 1, 1, 1))
		cfg.Cell.Body = json.RawMessage(`{"dimensions":256}`)
		p, err := Prepare(t.Context(), cfg)
		if p != nil || err == nil || !strings.Contains(err.Error(), "the request before the run failed: client_error, status 400") || !strings.Contains(err.Error(), "dimensions is currently not supported") {
			t.Errorf("%v", err)
		}
		if f.seen() > 2 { // as ids, and as text
			t.Errorf("%d requests", f.seen())
		}
	})
}

// Slots that share one context fail together when it is full: four victims, one
// incident, and the limit has its name.
func TestCase18(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			after := 100 * time.Millisecond
			if q.n > 11 && q.n <= 15 { // after three probes, four warm-ups and the first four: all that are in flight
				return said{after: after, body: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\ndata: {\"error\":{\"code\":500,\"message\":\"Context size has been exceeded.\",\"type\":\"server_error\"}}\n\n"}
			}
			return said{after: after, body: sse(8, q.tokens, 8)}
		}
		l := loadLadder(40, 4)
		l.Stop.ConfirmRounds = 0
		out := walkAll(t, streams(f.net, 8, l))
		rows := out.rows(phase(record.Measure))
		incidents := map[int64]int{}
		for _, r := range rows {
			if r.Outcome == record.OK {
				continue
			}
			if r.Outcome != record.TooLong || r.Limit != record.LimitSlots || *r.Status != 200 || r.Incident == nil || !strings.Contains(r.Error, "Context size has been exceeded") {
				t.Fatalf("%+v", r)
			}
			incidents[*r.Incident]++
		}
		if len(rows) != 40 || len(incidents) != 1 || incidents[1] != 4 {
			t.Errorf("%d rows, incidents %v", len(rows), incidents)
		}
	})
}

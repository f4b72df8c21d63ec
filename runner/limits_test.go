package runner

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unicode/utf8"

	"rung/sinks/record"
)

// A client that is out of descriptors says nothing of the server: the round is
// refused, run again, and is no edge.
func TestOutOfDescriptors(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		cfg := config(f.net, loadLadder(20, 4))
		cfg.Cell.Ladders[0].Rungs[0].Warmup = 0
		var dials atomic.Int64
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials.Add(1) == 3 {
				return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.EMFILE}
			}
			return f.net.Dial(ctx, network, address)
		}
		out := walkAll(t, cfg)
		limited := 0
		for _, r := range out.rows(phase(record.Measure)) {
			if r.Outcome == record.ClientLimited {
				limited++
				if r.Stage != record.StageConnect || r.Status != nil || r.Incident != nil {
					t.Errorf("%+v", r)
				}
			}
			if r.Counted != (r.Attempt == 1) || r.Attempt == 0 && r.RejectReason != "client_limited: this machine ran out of descriptors or ports in 1 of 20 requests" {
				t.Errorf("attempt %d: counted %t, %q", r.Attempt, r.Counted, r.RejectReason)
			}
		}
		if limited != 1 || len(out.events(record.EdgeFound)) > 0 {
			t.Errorf("%d limited by the client, edges %v", limited, out.reasons(record.EdgeFound))
		}
	})
}

// However long a text is, so much of it is tokenised, and no rune is cut.
func TestLongTextIsCut(t *testing.T) {
	for _, text := range []string{strings.Repeat("a", corpusBytes), strings.Repeat("测量", corpusBytes), "x" + strings.Repeat("é", corpusBytes), "ab" + strings.Repeat("😀", corpusBytes)} {
		got := cutText(text)
		if len(got) > corpusBytes || len(got) < corpusBytes-3 || !utf8.ValidString(got) || !strings.HasPrefix(text, got) {
			t.Errorf("%d bytes, valid %t", len(got), utf8.ValidString(got))
		}
	}
}

// A long text is sent to the tokeniser within that bound, whichever form is found.
func TestLongTextIsBounded(t *testing.T) {
	for _, ids := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			f := newFake(t)
			if !ids {
				textOnly(f, 2)
			}
			longest, count := 0, tokeniser(2, 0)
			f.tokenise = func(body string) (int, string) {
				longest = max(longest, len(body))
				return count(body)
			}
			cfg := config(f.net, batchLadder("batch", 1, 1, 1, 1))
			withText(&cfg, strings.Repeat("many words ", corpusBytes))
			p := prepare(t, cfg)
			if longest > corpusBytes+1000 {
				t.Errorf("%d bytes were tokenised", longest)
			}
			if m := p.materials["p"]; !ids && len(m.texts.Pieces) > corpusBytes {
				t.Errorf("%d pieces are kept", len(m.texts.Pieces))
			}
		})
	}
}

package runner

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"rung/sinks/record"
)

// A server that drops what lies idle for 5 s never meets a request sent at just that
// time: the client drops it before. Where one is met all the same, it says nothing of
// the server and is sent again; a break on a fresh connection, or in an answer, does.
func TestCase68(t *testing.T) {
	t.Run("closed before the server does", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			rows := walkAll(t, config(newFake(t).net, rateLadder(6*serverIdle, 4, 1/serverIdle.Seconds()))).rows(phase(record.Measure))
			for _, r := range rows[1:] {
				if r.Outcome != record.OK || r.ConnReused || r.ResetIdle {
					t.Errorf("%+v", r)
				}
			}
			if len(rows) != 6 {
				t.Errorf("%d rows", len(rows))
			}
		})
	})
	t.Run("met idle", func(t *testing.T) {
		pings := 0
		for _, broken := range []int{0, 6} {
			bubble(t, func(t *testing.T) {
				asks := 0
				f := newFake(t)
				f.models = func(w http.ResponseWriter) {
					asks++
					fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
				}
				f.answer = func(q asked) said { return said{drop: q.n == broken, stale: q.n == broken} }
				out := walkAll(t, config(f.net, rateLadder(10*time.Second, 4, 1)))
				if broken == 0 {
					pings = asks
					return
				}
				checkSentAgain(t, out)
				if asks != pings {
					t.Errorf("the server was asked %d times whether it is there, else %d", asks, pings)
				}
			})
		}
	})
	for name, tt := range map[string]struct {
		every time.Duration
		said  said
		want  record.Outcome
	}{
		"fresh":         {10 * time.Second, said{drop: true}, record.Reset},
		"in the answer": {time.Second, said{drop: true, body: `{"data":[`}, record.Reset},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFake(t)
				f.answer = func(q asked) said {
					if q.n == 6 {
						return tt.said
					}
					return said{}
				}
				l := rateLadder(10*tt.every, 4, 1/tt.every.Seconds())
				l.Stop.ConfirmRounds = 0
				out := walkAll(t, config(f.net, l))
				rows := out.rows(phase(record.Measure))
				last := rows[len(rows)-1]
				if last.Outcome != tt.want || last.ResetIdle || !last.Failed() || len(rows) != 4 || len(out.events(record.EdgeFound)) != 1 {
					t.Errorf("%d rows, the last: %+v", len(rows), last)
				}
			})
		})
	}
}

// checkSentAgain sees one of ten requests sent twice, and no rule take note.
func checkSentAgain(t *testing.T, out *tape) {
	t.Helper()
	rows := out.rows(phase(record.Measure))
	var idle, again *record.Request
	for i := range rows {
		if rows[i].ResetIdle {
			idle, again = &rows[i], &rows[i+1]
		}
	}
	if len(rows) != 11 || idle == nil || count(rows, record.OK) != 10 {
		t.Fatalf("%d rows, %d ok", len(rows), count(rows, record.OK))
	}
	if idle.Outcome != record.Reset || !idle.ConnReused || idle.Failed() || idle.Incident != nil || again.ID != idle.ID || again.Index != idle.Index || again.Outcome != record.OK {
		t.Errorf("%+v, then %+v", idle, again)
	}
	end := out.events(record.RoundEnd)[0]
	if *end.OK != 10 || *end.Failed != 0 || end.Verdict != record.Accepted || len(out.events(record.EdgeFound)) > 0 {
		t.Errorf("%+v, edges %q", end, out.reasons(record.EdgeFound))
	}
	var sum tally
	sum.add(result{rows: rows, counted: [][]record.Request{rows}})
	if sum.failures.Total != 10 || sum.failures.Failures != 0 || len(sum.Latencies) != 10 {
		t.Errorf("%+v", sum.failures)
	}
}

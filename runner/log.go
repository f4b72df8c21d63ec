package runner

import (
	"fmt"
	"math"
	"sync"
	"time"

	"rung/runner/pace"
	"rung/runner/target"
	"rung/sinks/record"
)

// LogReader gives what the server prints. Read gives the lines since the last call that
// explain something, as events without their place and their time on the run's clock.
type LogReader interface {
	Read() []record.Event
	Settings() []record.Setting
}

// How often the log is looked at, and for how long after a failure a line is waited for
// that explains it: a process prints before it ends, and is read after.
const (
	logInterval  = 200 * time.Millisecond
	evidenceTime = time.Second
	evidenceLook = 50 * time.Millisecond
)

// mostEnd bounds what is said of how a process ended, in bytes.
const mostEnd = 600

// mostCauses bounds the lines that may explain a failure.
const mostCauses = 100

// logging makes events of the lines of the server's log.
type logging struct {
	r      *run
	reader LogReader
	quit   chan struct{}
	done   sync.WaitGroup
	turn   turn
	causes []cause
}

// cause is a line that explains failures.
type cause struct {
	ts      float64
	outcome record.Outcome
	line    string
}

func newLogging(r *run, reader LogReader) *logging {
	return &logging{r: r, reader: reader, quit: make(chan struct{}), turn: newTurn()}
}

func (l *logging) start() {
	if l.reader == nil {
		return
	}
	l.done.Go(func() {
		pace.Every(logInterval, l.quit, func(time.Time) bool {
			l.take()
			return true
		}, func(int) {})
	})
}

func (l *logging) stop() {
	close(l.quit)
	l.done.Wait()
	l.take()
}

// take gives out what was printed since the last time.
func (l *logging) take() {
	if l.reader == nil {
		return
	}
	l.turn.take()
	defer l.turn.give()
	for _, e := range l.reader.Read() {
		e.Place, e.TS = *l.r.here.Load(), l.r.clock.at(e.Time)
		switch {
		case e.Kind == record.LogOOM:
			l.note(e, record.OOM)
		case e.Kind == record.LogFault && target.SaysCUDA(e.Reason):
			l.note(e, record.CUDAError)
		}
		l.r.send(record.Item{Event: &e})
	}
}

func (l *logging) note(e record.Event, o record.Outcome) {
	if len(l.causes) == mostCauses {
		l.causes = l.causes[1:]
	}
	l.causes = append(l.causes, cause{e.TS, o, e.Reason})
}

// since is the first line from a moment on that explains failures.
func (l *logging) since(ts float64) (cause, bool) {
	l.turn.take()
	defer l.turn.give()
	for _, c := range l.causes {
		if c.ts >= ts {
			return c, true
		}
	}
	return cause{}, false
}

// blame names failures that do not say their cause by what the server printed
// meanwhile: a process that is out of memory breaks its connections, and says why in
// its log alone.
func (r *run) blame(rows []record.Request) {
	if r.logging.reader == nil {
		return
	}
	begun, found := math.Inf(1), false
	for _, row := range rows {
		switch {
		case silent(row):
			found = true
		case !row.ResetIdle: // which broke first, and was sent again
			continue
		}
		begun = min(begun, row.SentTS)
	}
	if !found {
		return
	}
	c, ok := r.evidence(begun)
	for i := range rows {
		if row := &rows[i]; ok && silent(*row) && row.DoneTS >= c.ts-evidenceTime.Seconds() {
			row.Outcome = c.outcome
			row.Error = fmt.Sprintf("the server's log: %s; the request: %s", c.line, row.Error)
		}
	}
}

// silent says that a request failed and nothing in its answer tells why.
func silent(row record.Request) bool {
	switch row.Outcome {
	case record.Reset, record.Refused, record.ServerError:
		return !row.ResetIdle
	default:
		return false
	}
}

// evidence waits a moment for a line that explains failures.
func (r *run) evidence(since float64) (cause, bool) {
	for until := time.Now().Add(evidenceTime); ; {
		r.logging.take()
		c, ok := r.logging.since(since)
		if ok || time.Now().After(until) || !pause(r.abort, evidenceLook) {
			return c, ok
		}
	}
}

// howEnded adds to the news that the server is gone how its process ended.
func (r *run) howEnded(gone error) string {
	how := r.cfg.Server.Exited()
	if how == "" {
		return gone.Error()
	}
	return gone.Error() + "; the process ended: " + target.Excerpt([]byte(how), mostEnd)
}

package target

import (
	"context"
	"fmt"
	"sync"
	"time"

	"rung/sinks/record"
)

// upError says which of a request's times was up. It is a deadline that was
// exceeded, for whoever asks.
type upError struct {
	stage record.Stage
	after time.Duration
}

func (e upError) Error() string {
	switch e.stage {
	case record.StageFirstByte:
		return fmt.Sprintf("no byte of the answer within %s", e.after)
	case record.StageBetween:
		return fmt.Sprintf("the answer began, and then no byte came for %s", e.after)
	default:
		return fmt.Sprintf("no whole answer within %s", e.after)
	}
}

func (upError) Unwrap() error { return context.DeadlineExceeded }

// watch ends an exchange whose time is up: the whole of it, or a span in which
// nothing came.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	total  *time.Timer

	mu     sync.Mutex
	silent *time.Timer
}

func newWatch(ctx context.Context, total time.Duration) *watch {
	w := &watch{}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.total = time.AfterFunc(total, func() { w.cancel(upError{record.StageTotal, total}) })
	return w
}

// quiet begins a span in which something must come, and ends the one before; a
// span of 0 is without end.
func (w *watch) quiet(stage record.Stage, span time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.silent != nil {
		w.silent.Stop()
		w.silent = nil
	}
	if span > 0 {
		w.silent = time.AfterFunc(span, func() { w.cancel(upError{stage, span}) })
	}
}

// why gives the error and the stage of an exchange that failed: those of the time
// that was up, where one was.
func (w *watch) why(stage record.Stage, err error) (record.Stage, error) {
	up, ok := context.Cause(w.ctx).(upError) //nolint:errorlint // the cause is what was given, unwrapped
	if ok {
		return up.stage, up
	}
	return stage, err
}

func (w *watch) end() {
	w.total.Stop()
	w.quiet("", 0)
	w.cancel(nil)
}

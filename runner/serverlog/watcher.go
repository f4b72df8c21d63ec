package serverlog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"rung/runner/settings"
	"rung/sinks/record"
)

// Bounds on what is kept of a log.
const (
	mostASecond = 5    // lines of a kind
	mostHeld    = 1000 // lines that nobody has read yet
	mostLine    = 400  // bytes of a line that is kept
	mostLooked  = 4096 // bytes of a line that is looked at
	mostNames   = 64   // settings
)

// Watcher keeps the lines that explain something until they are read. Lines may come from
// one goroutine and be read by another.
type Watcher struct {
	now func() time.Time

	mu       sync.Mutex
	held     []record.Event
	seconds  map[record.EventKind]*second
	settings map[string]record.Setting
}

// second is what came of a kind in one second.
type second struct {
	begun   time.Time
	kept    int
	dropped int
}

// NewWatcher makes one that takes the time of a line from now.
func NewWatcher(now func() time.Time) *Watcher {
	return &Watcher{now: now, seconds: map[record.EventKind]*second{}, settings: map[string]record.Setting{}}
}

// Line takes one line, without the secrets that the server was given.
func (w *Watcher) Line(line string) {
	if len(line) > mostLooked {
		line = strings.ToValidUTF8(line[:mostLooked], "")
	}
	if !hinted(line) {
		return
	}
	w.learn(line)
	w.mu.Lock()
	defer w.mu.Unlock()
	kind := Kind(line)
	if kind == "" {
		return
	}
	text := clip(record.OneLine(strings.ToValidUTF8(strings.TrimSpace(line), "\uFFFD")))
	w.keep(kind, text)
}

// keep holds a line, or counts it.
func (w *Watcher) keep(kind record.EventKind, text string) {
	now := w.now()
	s := w.seconds[kind]
	if s == nil || now.Sub(s.begun) >= time.Second {
		s = &second{begun: now, dropped: w.close(kind)}
		w.seconds[kind] = s
	}
	if s.kept >= mostASecond || len(w.held) >= mostHeld {
		s.dropped++
		return
	}
	s.kept++
	w.held = append(w.held, record.Event{Kind: kind, Time: now, Reason: text})
}

// close says how many lines of a kind were left out in its last second; it gives those
// of which it can't say so yet.
func (w *Watcher) close(kind record.EventKind) (left int) {
	s := w.seconds[kind]
	switch {
	case s == nil || s.dropped == 0:
		return 0
	case len(w.held) >= mostHeld:
		return s.dropped
	}
	w.held = append(w.held, record.Event{Kind: kind, Time: w.now(), Reason: fmt.Sprintf("(%d more lines of the kind)", s.dropped)})
	return 0
}

// learn takes a line for what it says of settings alone.
func (w *Watcher) learn(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range settings.FromLine(line) {
		if _, there := w.settings[s.Name]; there || len(w.settings) < mostNames {
			w.settings[s.Name] = s
		}
	}
}

// Read gives the lines since the last call, in order, as events: all of an event but its
// place and its time on the run's clock.
func (w *Watcher) Read() []record.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.held
	w.held = nil
	for _, kind := range slices.Sorted(maps.Keys(w.seconds)) {
		if w.now().Sub(w.seconds[kind].begun) >= time.Second {
			w.close(kind)
			delete(w.seconds, kind)
		}
	}
	out = append(out, w.held...)
	w.held = nil
	return out
}

// Settings are those that the log says are in force, in order of their names.
func (w *Watcher) Settings() []record.Setting {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []record.Setting
	for _, name := range slices.Sorted(maps.Keys(w.settings)) {
		out = append(out, w.settings[name])
	}
	return out
}

func clip(s string) string {
	if len(s) <= mostLine {
		return s
	}
	return strings.ToValidUTF8(s[:mostLine], "") + "…"
}

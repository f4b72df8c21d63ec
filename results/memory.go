package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rung/sinks/record"
	"rung/spec/plan"
)

const (
	// A device whose memory was this full before any load, and moved by less than
	// that, took its memory up front: what it uses says nothing of the load.
	poolIdle  = 0.60
	poolMoves = 0.02
	// Memory that moves by less than this share of the total follows no load.
	still = 0.005
	// A later ladder that begins this far above idle begins at a high-water mark.
	taken = 0.01
)

// memory is the samples of the fullest device, in order of time.
type memory struct {
	samples []*record.Sample // only those that tell the memory in use
	events  []record.Event   // in order of time
	total   *int64
	idle    *int64
	card    string
	reason  string // why nothing is known, in few words
	upFront bool   // the server took its memory up front
}

// noGPU stands wherever a figure of memory would.
const noGPU = "memory: unknown, no GPU was sampled"

// newMemory picks the device with the least room and says what it can of the run.
func newMemory(r *Run) (memory, Memory) {
	m := memory{events: slices.Clone(r.Events)}
	m.sort()
	out := Memory{}
	fullest, devices := -1.0, map[int]bool{}
	for _, s := range r.Samples {
		devices[s.Device] = true
		if full := fullness(s); full > fullest || full == fullest && full >= 0 && s.Device < out.Device {
			fullest, out.Device, out.DeviceName = full, s.Device, s.Name
		}
	}
	out.Devices = len(devices)
	switch {
	case len(r.Samples) == 0:
		m.reason, out.Reason = noGPU, noGPU
		if why := r.Manifest.GPU.Reason; why != "" {
			out.Reason += " (" + why + ")"
		}
		return m, out
	case fullest < 0:
		out.Reason = "memory: unknown, the GPU was sampled and its driver gives no memory in use"
		m.reason = out.Reason
		return m, out
	}
	for i := range r.Samples {
		if s := &r.Samples[i]; s.Device == out.Device && s.MemUsedBytes != nil {
			m.samples = append(m.samples, s)
		}
	}
	slices.SortFunc(m.samples, func(a, b *record.Sample) int {
		return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(*a.MemUsedBytes, *b.MemUsedBytes))
	})
	m.total, m.card = m.samples[0].MemTotalBytes, out.DeviceName
	out.TotalBytes = m.total
	return m, out
}

func (m memory) sort() {
	slices.SortFunc(m.events, func(a, b record.Event) int {
		return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(a.Kind, b.Kind), a.Compare(b.Place), cmp.Compare(a.Reason, b.Reason))
	})
}

// fullness is the used share of a device; below 0 where it is not known. Without
// a total the bytes themselves decide, scaled to stay below any share.
func fullness(s record.Sample) float64 {
	switch {
	case s.MemUsedBytes == nil:
		return -1
	case s.MemTotalBytes == nil || *s.MemTotalBytes <= 0:
		return float64(*s.MemUsedBytes) * 1e-30
	default:
		return float64(*s.MemUsedBytes) / float64(*s.MemTotalBytes)
	}
}

// window finds the first begin of one kind at a place and the end that follows.
func (m memory) window(begin, end record.EventKind, at func(record.Place) bool) (from, to float64, ok bool) {
	for i, e := range m.events {
		if e.Kind != begin || !at(e.Place) {
			continue
		}
		for _, f := range m.events[i:] {
			if f.Kind == end && f.Ladder == e.Ladder && f.Pass == e.Pass && f.Rung == e.Rung {
				return e.TS, f.TS, true
			}
		}
		return e.TS, math.Inf(1), true
	}
	return 0, 0, false
}

// used gives the memory in use in a span of time, at the places wanted.
func (m memory) used(from, to float64, at func(record.Place) bool) []int64 {
	var out []int64
	for _, s := range m.samples {
		if s.TS >= from && s.TS <= to && at(s.Place) {
			out = append(out, *s.MemUsedBytes)
		}
	}
	return out
}

func anywhere(record.Place) bool { return true }

// middle is the median of some bytes, to the whole one.
func middle(bytes []int64) int64 {
	values := make([]float64, len(bytes))
	for i, b := range bytes {
		values[i] = float64(b)
	}
	return int64(math.Round(median(values)))
}

// baseline fills in what the loaded model holds by itself: the memory before the
// first request, where that was read and is below the idle time's. The probes come
// before the idle time, and a growing allocator keeps what they took.
func (m *memory) baseline(b *Baseline) {
	if m.reason != "" {
		b.IdleReason = m.reason
		return
	}
	from, to, ok := m.window(record.IdleBegin, record.IdleEnd, anywhere)
	if !ok {
		b.IdleReason = "no idle time was recorded"
		return
	}
	used := m.used(from, to, anywhere)
	b.IdleSamples = len(used)
	if len(used) == 0 {
		b.IdleReason = "no sample fell into the idle time"
		return
	}
	b.IdleBytes = new(middle(used))
	probing := func(p record.Place) bool { return p.Phase == record.Probe }
	if before := m.used(math.Inf(-1), from, probing); len(before) > 0 && before[0] < *b.IdleBytes {
		b.IdleBytes, b.IdleProbedBytes = &before[0], b.IdleBytes
	}
	m.idle = b.IdleBytes
}

// ladder fills in the memory of each rung, on the first walk up. first says that
// no ladder came before it.
func (m *memory) ladder(l *Ladder, first bool) {
	high := m.highWater(l.Name, first)
	l.HighWater = high != nil
	var below *RungMemory
	for i := range l.Rungs {
		r := &l.Rungs[i]
		if m.reason != "" {
			r.MemoryReason = m.reason
			continue
		}
		r.Memory, r.MemoryReason = m.rung(l.Name, r.Index)
		if r.Memory == nil {
			below = nil
			continue
		}
		peak := r.Memory.PeakBytes
		if m.idle != nil {
			r.Memory.OverIdleBytes = new(peak - *m.idle)
		}
		r.Memory.AfterHighWater = high != nil && float64(peak) <= float64(*high)*1.001
		if below != nil && !below.AfterHighWater {
			r.Memory.OverBelowBytes = new(peak - below.PeakBytes)
		}
		below = r.Memory
	}
}

// rung is the peak at one rung. Without marks in the events the samples' own
// places decide.
func (m *memory) rung(ladder string, index int) (*RungMemory, string) {
	here := func(p record.Place) bool { return p.Ladder == ladder && p.Rung == index && p.Pass == 0 && !checking(p) }
	from, to, ok := m.window(record.RungBegin, record.RungEnd, here)
	// The last sample of the rung before may be of the moment in which this one began.
	at := func(p record.Place) bool { return p.Ladder == "" || p.Ladder == ladder && p.Rung == index }
	if !ok || math.IsInf(to, 1) {
		from, to, at = math.Inf(-1), math.Inf(1), here
	}
	used := m.used(from, to, at)
	if len(used) == 0 {
		return nil, "memory: unknown, no sample fell into the rung's first walk"
	}
	return &RungMemory{PeakBytes: slices.Max(used), Samples: len(used)}, ""
}

// highWater is what a later ladder found in use when it began, where that was
// well above idle: a growing allocator keeps what it took.
func (m *memory) highWater(ladder string, first bool) *int64 {
	if first || m.idle == nil || m.total == nil {
		return nil
	}
	from, _, ok := m.window(record.RungBegin, record.RungEnd, func(p record.Place) bool { return p.Ladder == ladder })
	if !ok || m.fresh(from) {
		return nil
	}
	var level *int64
	for _, s := range m.samples {
		if s.TS <= from {
			level = s.MemUsedBytes
		}
	}
	if level == nil || float64(*level-*m.idle) <= taken*float64(*m.total) {
		return nil
	}
	return level
}

// fresh says that the server was started again since the rung before, so that what
// follows is a first walk once more.
func (m *memory) fresh(before float64) bool {
	out := false
	for _, e := range m.events { // in order of time
		switch {
		case e.TS > before:
			return out
		case e.Kind == record.RestartEnd:
			out = e.Reason == ""
		case e.Kind == record.RungBegin && e.TS < before:
			out = false
		}
	}
	return out
}

// preallocated says that the server took its memory up front: its own gauge of a pool
// shows it, or the card, full before any load and moved by none.
func (m *memory) preallocated(ladders []*walked) bool {
	if pooled(ladders) {
		return true
	}
	if m.total == nil || m.idle == nil || float64(*m.idle) < poolIdle*float64(*m.total) {
		return false
	}
	low, high := m.reach(ladders)
	return float64(high-low) < poolMoves*float64(*m.total)
}

// reach is the least and the greatest of idle memory and the usable rungs' peaks.
func (m *memory) reach(ladders []*walked) (low, high int64) {
	low, high = math.MaxInt64, math.MinInt64
	see := func(v int64) { low, high = min(low, v), max(high, v) }
	if m.idle != nil {
		see(*m.idle)
	}
	for _, w := range ladders {
		for _, r := range w.out.Rungs {
			if r.Index < w.edge && r.Memory != nil {
				see(r.Memory.PeakBytes)
			}
		}
	}
	if high < low {
		return 0, 0
	}
	return low, high
}

// loads says whether a ladder's limit is one of load: what headroom is about.
func loads(a plan.Axis) bool { return a == plan.AxisBatch || a == plan.AxisConcurrency }

// shown names a rung by its axis, and by its ladder where that is called otherwise.
func shown(w *walked, r *Rung) string {
	s := fmt.Sprintf("%s %g", w.plan.Axis, r.Value)
	if w.plan.Name != string(w.plan.Axis) {
		s += fmt.Sprintf(" of ladder %q", w.plan.Name)
	}
	return s
}

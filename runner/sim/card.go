package sim

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// Card is the modelled GPU. It is safe for concurrent use.
type Card struct {
	p    plan.Simulator
	cond conditions

	mu      sync.Mutex
	high    int64 // bytes that the allocator has taken, never given back
	crept   int64 // of them those lost to fragmentation
	large   int   // forwards that fragment
	running int64 // tokens of the work that runs now
	beside  int64 // bytes that it takes beside those of its tokens
	busy    int   // pieces of work that run now
	spilled int   // of them those that have memory of the host's
	energyJ float64
	idleAt  time.Time
	since   time.Time
	busyFor time.Duration // in the span that the last sample closed
	began   time.Time
}

// NewCard gives a card that holds a loaded model and has done nothing yet.
func NewCard(p plan.Simulator) *Card {
	now := time.Now()
	c := &Card{p: p, cond: conditions{p, now}, since: now, began: now, idleAt: now}
	c.high = c.loaded()
	return c
}

// loaded is the memory of a server that has done nothing yet.
func (c *Card) loaded() int64 { return max(c.p.MemoryIdle, preallocated(c.p)) }

func preallocated(p plan.Simulator) int64 { return int64(p.Preallocate * float64(p.MemoryTotal)) }

// poolTokens is what a pre-allocated pool holds; 0 without one.
func poolTokens(p plan.Simulator) int {
	if p.Preallocate <= 0 {
		return 0
	}
	return int(max(1, (preallocated(p)-p.MemoryIdle)/max(1, p.MemoryPerToken)))
}

// load puts a fresh process on the card, and unload takes it away.
func (c *Card) load()   { c.hold(c.loaded()) }
func (c *Card) unload() { c.hold(0) }

func (c *Card) hold(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.high, c.crept, c.large = bytes, 0, 0
}

// oomError is the card's answer to work that does not fit.
type oomError struct{ want, total, free int64 }

func (e oomError) Error() string {
	return fmt.Sprintf("CUDA out of memory. Tried to allocate %.2f GiB. GPU 0 has a total capacity of %.2f GiB of which %.2f GiB is free. (simulated)",
		gib(e.want), gib(e.total), gib(e.free))
}

func gib(b int64) float64 { return float64(b) / (1 << 30) }

// begin takes the memory for so many tokens more, and so many bytes beside theirs, or
// fails as CUDA would. It gives the time that the clocks take to rise after a silence.
func (c *Card) begin(tokens int, beside int64) (rise time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.account()
	if err := c.take(tokens, beside); err != nil {
		return 0, err
	}
	if c.drowsy() {
		rise = cmp.Or(c.p.IdleClockDelay.D(), idleClockDelay)
	}
	c.running += int64(tokens)
	c.beside += beside
	c.busy++
	if c.spills(c.wanted()) {
		c.spilled++
	}
	return rise, nil
}

// wanted is the memory that what runs now has.
func (c *Card) wanted() int64 {
	return c.p.MemoryIdle + c.running*c.p.MemoryPerToken + c.beside + c.crept
}

// take finds the memory for more work.
func (c *Card) take(tokens int, beside int64) error {
	if c.p.FragmentAfter > 0 && tokens >= c.p.FragmentTokens {
		if c.large++; c.large > c.p.FragmentAfter {
			c.crept += c.p.FragmentStep
		}
	}
	need := int64(tokens)*c.p.MemoryPerToken + beside
	want := c.wanted() + need
	limit := c.p.MemoryTotal - c.cond.foreign(c.since)
	if pool := preallocated(c.p); pool > 0 {
		limit = pool
	}
	if c.spills(want) {
		want = limit
	}
	if want > limit || c.p.OOMTokens > 0 && tokens > c.p.OOMTokens {
		return oomError{want: need, total: c.p.MemoryTotal, free: max(0, limit-c.high)}
	}
	c.high = max(c.high, want)
	return nil
}

// spills says that so much memory is more than the card has, and that what is too much
// goes to the host's.
func (c *Card) spills(want int64) bool {
	return c.p.SpillFactor > 0 && c.p.Preallocate <= 0 && want > c.p.MemoryTotal-c.cond.foreign(c.since)
}

// slower is by how much all work takes longer now, since some of it has memory of the
// host's.
func (c *Card) slower() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spilled > 0 {
		return c.p.SpillFactor
	}
	return 1
}

// idleClockDelay is what clocks take to rise where the plan does not say.
const idleClockDelay = 20 * time.Millisecond

// drowsy says whether the clocks have fallen for want of work.
func (c *Card) drowsy() bool {
	return c.p.IdleClockAfter > 0 && c.busy == 0 && c.since.Sub(c.idleAt) >= c.p.IdleClockAfter.D()
}

// end gives the work back. The memory stays taken.
func (c *Card) end(tokens int, beside int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.account()
	c.running -= int64(tokens)
	c.beside -= beside
	c.busy--
	if !c.spills(c.wanted()) {
		c.spilled = 0
	}
	c.idleAt = c.since
}

// usage is the share of the pool that embeddings have in use; 0 without a pool.
func (c *Card) usage() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	room := preallocated(c.p) - c.p.MemoryIdle
	if c.p.Preallocate <= 0 {
		return 0
	}
	return min(1, float64(c.running*c.p.MemoryPerToken)/float64(max(1, room)))
}

// account adds the time since the last change to the busy time.
func (c *Card) account() {
	now := time.Now()
	if c.busy > 0 {
		from := c.since
		if from.Before(c.began) {
			from = c.began
		}
		c.busyFor += c.worked(from, now)
	}
	c.since = now
}

// A card that the host feeds works in bursts: so much of each period, and then it waits
// for what comes next, though requests are in flight.
const (
	burstPeriod = 600 * time.Millisecond
	burstShare  = 0.35
	spillShare  = 0.4 // of the time in which work that has memory of the host's keeps the card busy
)

// worked is for how long of a span with work the card had any to do.
func (c *Card) worked(from, to time.Time) time.Duration {
	d := to.Sub(from)
	switch {
	case c.spilled > 0:
		return time.Duration(spillShare * float64(d))
	case c.p.Bound != "host":
		return d
	}
	bursts := func(t time.Time) time.Duration { // since the start
		since := t.Sub(c.cond.start)
		on := time.Duration(burstShare * float64(burstPeriod))
		return time.Duration(int64(since/burstPeriod)*int64(on)) + min(since%burstPeriod, on)
	}
	return bursts(to) - bursts(from)
}

// processes are those that compute on the card: the server's, and those of other loads.
func (c *Card) processes() []int64 {
	const server = 4242
	out := []int64{server}
	for i := range c.cond.others(c.since) {
		out = append(out, server+1+int64(i))
	}
	return out
}

// Close does nothing: the card lives as long as its server.
func (c *Card) Close() error { return nil }

// Source names where the samples come from.
func (c *Card) Source() string { return "simulator" }

const (
	uuid                = "GPU-simulated-0"
	name                = "simulated GPU"
	powerIdleW          = 60.0
	powerLimitW         = 300.0
	clockFullMHz        = 1980.0
	clockIdleMHz        = 345.0
	driverReserve int64 = 256 << 20
	thermalBit    int64 = 0x20 // NVML's for a slowdown by software for heat
)

// Devices lists the one simulated card.
func (c *Card) Devices() []record.Device {
	total, mig, ecc, limit := c.p.MemoryTotal, false, true, powerLimitW
	return []record.Device{{UUID: uuid, Name: name, Driver: "simulated", MemTotalBytes: &total, PowerLimitW: &limit, MIG: &mig, ECC: &ecc}}
}

// bound is what a card shows while it works, as shares of all it could.
type bound struct{ util, mem, power float64 }

func bounds(name string) bound {
	switch name {
	case "host": // in its bursts
		return bound{1, 0.3, 0.6}
	case "bandwidth": // always busy, and mostly with its memory
		return bound{1, 0.95, 0.65}
	default:
		return bound{1, 0.4, 0.9}
	}
}

// Sample reads the card: memory now, utilisation since the last reading.
func (c *Card) Sample() ([]record.Sample, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.account()
	work, span := 0.0, c.since.Sub(c.began)
	if span > 0 {
		work = min(1, c.busyFor.Seconds()/span.Seconds())
	}
	c.began, c.busyFor = c.since, 0
	total := c.p.MemoryTotal
	used := min(total, c.high+c.cond.foreign(c.since))
	reserved := min(driverReserve, total-used)
	free := total - used - reserved
	b, speed := bounds(c.p.Bound), c.cond.clock(c.since)
	util, mem := 100*work*b.util, 100*work*b.mem
	power := powerIdleW + work*speed*(powerLimitW*b.power-powerIdleW)
	c.energyJ += power * span.Seconds()
	energy := c.energyJ
	temp, sm, memClock, throttle := 40+25*work, clockFullMHz*speed, 2619.0, int64(0)
	if c.cond.throttled(c.since) {
		throttle = thermalBit
	}
	if c.drowsy() {
		sm = clockIdleMHz
	}
	return []record.Sample{{
		UUID: uuid, Name: name, MemCall: "simulated",
		MemTotalBytes: &total, MemUsedBytes: &used, MemFreeBytes: &free, MemReservedBytes: &reserved,
		UtilGPUPct: &util, UtilMemPct: &mem, PowerW: &power, TemperatureC: &temp, SMClockMHz: &sm, MemClockMHz: &memClock, ThrottleReasons: &throttle,
		EnergyJ: &energy, Processes: c.processes(),
	}}, nil
}

package sim

import (
	"fmt"
	"sync"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// Card is the modelled GPU. It is safe for concurrent use.
type Card struct {
	p plan.Simulator

	mu      sync.Mutex
	high    int64 // bytes that the allocator has taken, never given back
	running int64 // tokens of the work that runs now
	busy    int   // pieces of work that run now
	since   time.Time
	busyFor time.Duration // in the span that the last sample closed
	began   time.Time
}

// NewCard gives a card that holds a loaded model and has done nothing yet.
func NewCard(p plan.Simulator) *Card {
	now := time.Now()
	return &Card{p: p, high: p.MemoryIdle, since: now, began: now}
}

// oomError is the card's answer to work that does not fit.
type oomError struct{ want, total, free int64 }

func (e oomError) Error() string {
	return fmt.Sprintf("CUDA out of memory. Tried to allocate %.2f GiB. GPU 0 has a total capacity of %.2f GiB of which %.2f GiB is free. (simulated)",
		gib(e.want), gib(e.total), gib(e.free))
}

func gib(b int64) float64 { return float64(b) / (1 << 30) }

// begin takes the memory for so many tokens more, or fails as CUDA would.
func (c *Card) begin(tokens int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	want := c.p.MemoryIdle + (c.running+int64(tokens))*c.p.MemoryPerToken
	if want > c.p.MemoryTotal {
		return oomError{want: int64(tokens) * c.p.MemoryPerToken, total: c.p.MemoryTotal, free: c.p.MemoryTotal - c.high}
	}
	c.high = max(c.high, want)
	c.account()
	c.running += int64(tokens)
	c.busy++
	return nil
}

// end gives the work back. The memory stays taken.
func (c *Card) end(tokens int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.account()
	c.running -= int64(tokens)
	c.busy--
}

// account adds the time since the last change to the busy time.
func (c *Card) account() {
	now := time.Now()
	if c.busy > 0 {
		from := c.since
		if from.Before(c.began) {
			from = c.began
		}
		c.busyFor += now.Sub(from)
	}
	c.since = now
}

// Source names where the samples come from.
func (c *Card) Source() string { return "simulator" }

// Devices lists the one simulated card.
func (c *Card) Devices() []record.Device {
	total, mig, ecc, limit := c.p.MemoryTotal, false, true, powerLimitW
	return []record.Device{{UUID: uuid, Name: name, Driver: "simulated", MemTotalBytes: &total, PowerLimitW: &limit, MIG: &mig, ECC: &ecc}}
}

const (
	uuid                = "GPU-simulated-0"
	name                = "simulated GPU"
	powerIdleW          = 60.0
	powerLimitW         = 300.0
	driverReserve int64 = 256 << 20
)

// Sample reads the card: memory now, utilisation since the last reading.
func (c *Card) Sample() ([]record.Sample, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.account()
	util := 0.0
	if span := c.since.Sub(c.began); span > 0 {
		util = min(100, 100*c.busyFor.Seconds()/span.Seconds())
	}
	c.began, c.busyFor = c.since, 0
	total, used, reserved := c.p.MemoryTotal, c.high, min(driverReserve, c.p.MemoryTotal-c.high)
	free := total - used - reserved
	power := powerIdleW + util/100*(powerLimitW*0.9-powerIdleW)
	temp, sm, mem, throttle := 40+util/4, 1980.0, 2619.0, int64(0)
	return []record.Sample{{
		UUID: uuid, Name: name, MemCall: "simulated",
		MemTotalBytes: &total, MemUsedBytes: &used, MemFreeBytes: &free, MemReservedBytes: &reserved,
		UtilGPUPct: &util, PowerW: &power, TemperatureC: &temp, SMClockMHz: &sm, MemClockMHz: &mem, ThrottleReasons: &throttle,
	}}, nil
}

// Close does nothing: the card lives as long as its server.
func (c *Card) Close() error { return nil }

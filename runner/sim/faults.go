package sim

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"rung/spec/plan"
)

// faults number the requests and keep count of what was put on them.
type faults struct {
	mu    sync.Mutex
	n     int
	times map[int]int // by the fault's place in the plan
}

// number gives a request its own, from 1.
func (f *faults) number() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	return f.n
}

// again says whether a fault may fall once more.
func (f *faults) again(i, most int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if most > 0 && f.times[i] >= most {
		return false
	}
	if f.times == nil {
		f.times = map[int]int{}
	}
	f.times[i]++
	return true
}

// pick is the first fault of the plan that falls on a request.
func (c *call) pick(generates bool) plan.Fault {
	for i, f := range c.params().Faults {
		if !applies(f.Kind, generates) || !c.meets(i, f) {
			continue
		}
		most := f.Times
		if f.Kind == plan.FaultDie {
			most = max(1, most)
		}
		if c.p.s.faults.again(i, most) {
			return f
		}
	}
	return plan.Fault{}
}

// applies leaves out what concerns no single request, or not this kind.
func applies(k plan.FaultKind, generates bool) bool {
	switch k {
	case plan.FaultInterference, plan.FaultCloseIdle:
		return false
	case plan.FaultEmptyVectors, plan.FaultOneVector, plan.FaultZeroVector, plan.FaultWrongDims:
		return !generates
	default:
		return true
	}
}

// meets says whether a request is one that a fault is for.
func (c *call) meets(i int, f plan.Fault) bool {
	n, from := c.entry.Request, max(1, f.From)
	switch {
	case n < from, c.entry.Inputs < f.AtInputs, c.entry.InputTokens < f.AtTokens:
		return false
	case f.Every > 0 && (n-from+1)%f.Every != 0:
		return false
	default:
		return f.Share <= 0 || f.Share >= 1 || c.draw("fault "+strconv.Itoa(i)) < f.Share
	}
}

// draw is a number from 0 to 1 that belongs to the request's bytes, another for each
// purpose.
func (c *call) draw(purpose string) float64 {
	h := fnv.New64a()
	_, _ = h.Write(c.digest[:])
	_, _ = h.Write(binary.BigEndian.AppendUint64([]byte(purpose), uint64(c.p.s.cfg.Seed)))
	x := h.Sum64()
	x ^= x >> 33 // the last bytes of FNV's input reach the upper bits too weakly
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

// strike picks the request's fault and does what comes before its work. The error is
// what to end the request with.
func (c *call) strike(generates bool) error {
	c.fault = c.pick(generates)
	f := c.fault
	c.entry.Fault = string(f.Kind)
	after := cmp.Or(f.After.D(), time.Second)
	switch f.Kind {
	case plan.FaultReset:
		return errBroken
	case plan.FaultDie:
		c.p.die()
		return errBroken
	case plan.FaultSlowFirst:
		sleep(c.r.Context(), after)
		return c.r.Context().Err()
	case plan.FaultHang:
		c.w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(c.w).Flush() // who is not there can't be kept waiting
		<-c.r.Context().Done()
		return c.r.Context().Err()
	case plan.FaultStatus:
		return failure{status: cmp.Or(f.Status, http.StatusInternalServerError), text: f.Body, raw: true}
	case plan.FaultRetryAfter:
		c.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
		return failure{status: http.StatusTooManyRequests, kind: "RateLimit", text: "Too many requests"}
	default:
		return nil
	}
}

// engineDead is what vLLM says in the midst of a stream whose engine has died.
const engineDead = "EngineCore encountered an issue. See stack trace (above) for the root cause."

// errorEvent is an error as it stands in an answer of status 200.
func (c *call) errorEvent() []byte {
	return bytes.TrimSpace(marshal(map[string]any{"error": map[string]any{
		"message": cmp.Or(c.fault.Body, engineDead), "type": "InternalServerError", "param": nil, "code": http.StatusInternalServerError}}))
}

// spoilt are the vectors as the request's fault leaves them.
func (c *call) spoilt(vectors [][]float32) [][]float32 {
	last := len(vectors) - 1
	switch c.fault.Kind {
	case plan.FaultEmptyVectors:
		return [][]float32{}
	case plan.FaultOneVector:
		return vectors[:1]
	case plan.FaultZeroVector:
		clear(vectors[last])
	case plan.FaultWrongDims:
		vectors[last] = vectors[last][1:]
	default:
	}
	return vectors
}

// idleTimeout is when the server closes a connection that lies idle; 0 is never.
func idleTimeout(p plan.Simulator) time.Duration {
	for _, f := range p.Faults {
		if f.Kind == plan.FaultCloseIdle {
			return cmp.Or(f.After.D(), time.Second)
		}
	}
	return 0
}

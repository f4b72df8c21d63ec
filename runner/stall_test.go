package runner

import (
	"testing"
	"time"
)

func TestStalled(t *testing.T) {
	for name, c := range map[string]struct {
		stall     time.Duration
		latencies []float64
		refused   bool
	}{
		"a scheduler's whim":         {100 * time.Millisecond, []float64{0.01, 0.01, 0.02}, false},
		"a process that was stopped": {2 * time.Second, []float64{0.01, 0.01, 2}, true},
		"little beside a long chat":  {time.Second, []float64{30, 31, 32}, false},
		"nothing came back":          {time.Second, nil, true},
	} {
		if why := stalled(c.stall, c.latencies); (why != "") != c.refused {
			t.Errorf("%s: %q", name, why)
		}
	}
}

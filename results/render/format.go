package render

import (
	"fmt"
	"math"
	"strings"
	"time"

	"rung/results"
)

// unknown stands where there is no figure.
const unknown = "–"

// rate is a throughput to about four digits.
func rate(x *float64) string {
	if x == nil {
		return unknown
	}
	return digits(*x)
}

func digits(x float64) string {
	switch a := math.Abs(x); {
	case a >= 1000:
		return fmt.Sprintf("%.0f", x)
	case a >= 10:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.2f", x)
	}
}

// seconds has four decimals whatever its size, so that a query's value rounded
// to four decimals is the report's.
func seconds(s float64) string { return fmt.Sprintf("%.4f", s) }

// span is a time for the eye: 12.3 ms, 1.23 s.
func span(s float64) string {
	switch a := math.Abs(s); {
	case a < 1e-3:
		return fmt.Sprintf("%.3g µs", s*1e6)
	case a < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	default:
		return fmt.Sprintf("%.3g s", s)
	}
}

// gib is bytes in GiB, without the unit.
func gib(b int64) string { return fmt.Sprintf("%.2f", float64(b)/(1<<30)) }

// bytes is memory for the eye.
func bytes(b int64) string {
	switch a := math.Abs(float64(b)); {
	case a >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(b)/(1<<30))
	default:
		return fmt.Sprintf("%.0f MiB", float64(b)/(1<<20))
	}
}

func signed(b *int64) string {
	if b == nil {
		return unknown
	}
	return fmt.Sprintf("%+.2f", float64(*b)/(1<<30))
}

func value(v float64) string { return fmt.Sprintf("%g", v) }

func valueOrNone(v *float64) string {
	if v == nil {
		return "none"
	}
	return value(*v)
}

func percent(x float64) string { return fmt.Sprintf("%+.0f %%", 100*x) }

// failed lists failures by name: "2 oom, 1 timeout".
func failed(f []results.Failures) string {
	if len(f) == 0 {
		return "0"
	}
	out := make([]string, len(f))
	for i, x := range f {
		out[i] = fmt.Sprintf("%d %s", x.N, safe(x.Name))
	}
	return strings.Join(out, ", ")
}

// count is how many failures there are.
func count(f []results.Failures) int {
	n := 0
	for _, x := range f {
		n += x.N
	}
	return n
}

func marks(m []results.Mark) string {
	out := make([]string, len(m))
	for i, x := range m {
		out[i] = string(x)
	}
	return strings.Join(out, ", ")
}

func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// short is the beginning of a hash.
func short(hash string) string {
	if len(hash) > 12 {
		return hash[:12]
	}
	return hash
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

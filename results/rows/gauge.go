package rows

import (
	"math"

	"rung/sinks/record"
)

// Gauge is one figure of the server's own page. For the fields see record.ServerSample.
type Gauge struct {
	TS     float64
	Series string
	Value  float64 // NaN where the server gave none
}

// GaugeColumns are those of the table server that gauges are made from.
func GaugeColumns() []string { return []string{"t_s", "series", "value"} }

// Gauges are those of some samples.
func Gauges(samples []record.ServerSample) []Gauge {
	out := make([]Gauge, len(samples))
	for i := range samples {
		s := &samples[i]
		out[i] = Gauge{TS: s.TS, Series: s.Series, Value: math.NaN()}
		if s.Value != nil {
			out[i].Value = *s.Value
		}
	}
	return out
}

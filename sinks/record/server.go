package record

import "time"

// SeriesKind says what the value of a server's series is.
type SeriesKind string

// The kinds.
const (
	Gauge         SeriesKind = "gauge"     // as it is at that moment
	Counter       SeriesKind = "counter"   // since the server began
	HistogramPart SeriesKind = "histogram" // a sum, a count or a bucket, since the server began
	SummaryPart   SeriesKind = "summary"   // a sum, a count or a quantile
	Untyped       SeriesKind = "untyped"
)

// SeriesKinds lists all.
func SeriesKinds() []SeriesKind {
	return []SeriesKind{Gauge, Counter, HistogramPart, SummaryPart, Untyped}
}

// ServerSample is one series of one reading of the server's own metrics. Names and
// labels are the server's: untrusted text, bounded and valid UTF-8.
type ServerSample struct {
	Place             // what was going on
	Time   time.Time  // wall clock of the send of the reading
	TS     float64    // the same, on the run's clock
	LateS  float64    // behind its schedule
	Forced bool       // read at a rung's end, beside the schedule
	Series string     // the canonical name of a known series, else the server's own
	Source string     // the server's own name; empty for a count of the reader's
	Labels string     // "k=v,k=v", in order, at most 300 bytes
	Kind   SeriesKind // of the value
	Value  *float64   // in the series' unit; nil where the server gave none that is finite
}

// MetricsInfo says where the server's metrics were read.
type MetricsInfo struct {
	Page      string  `json:"page"`           // its address
	IntervalS float64 `json:"interval_s"`     // between two readings
	Late      int     `json:"late,omitempty"` // readings more than one interval late, or left out because an earlier one took so long
	Lost      string  `json:"lost,omitempty"` // why it could not be read at the end
}

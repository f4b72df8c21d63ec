package metrics

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"rung/sinks/record"
)

// A line and their number are bounded beside the page: a page of one-letter series
// takes fifty times its length in memory.
const (
	maxLine  = 64 << 10 // bytes
	maxLines = 100_000
)

// Names, the values of single labels and all labels together are bounded, in bytes.
const (
	maxName   = 200
	maxValue  = 200
	maxLabels = 300
)

// ErrEmpty says that a page has no series. It is not one of zeroes.
var ErrEmpty = errors.New("the page has no series")

// Series is one line of a page.
type Series struct {
	Name   string // as the page has it, with _bucket, _sum and _count
	Labels map[string]string
	Kind   record.SeriesKind
	Value  float64
}

// labels are all labels in order, as "k=v,k=v".
func (s Series) labels() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(s.Labels)) {
		pair := k + "=" + s.Labels[k]
		if b.Len() > 0 {
			pair = "," + pair
		}
		if b.Len()+len(pair) > maxLabels {
			break // a whole label or none
		}
		b.WriteString(pair)
	}
	return b.String()
}

// clean applies a function that takes a text and its most bytes to all texts.
func (s *Series) clean(by func(string, int) string) {
	s.Name = by(s.Name, maxName)
	for k, v := range s.Labels {
		delete(s.Labels, k)
		s.Labels[by(k, maxName)] = by(v, maxValue)
	}
}

// parse reads a page: series by series, in the order of the names.
func parse(page []byte) ([]Series, error) {
	lines := 0
	for line := range bytes.Lines(page) {
		if lines++; lines > maxLines {
			return nil, fmt.Errorf("the page has more than %d lines", maxLines)
		}
		if len(line) > maxLine {
			return nil, fmt.Errorf("line %d of the page is longer than %d KiB", lines, maxLine>>10)
		}
	}
	// One label in another encoding is no reason to lose all else.
	page = bytes.ToValidUTF8(page, []byte("\uFFFD"))
	if n := len(page); n > 0 && page[n-1] != '\n' {
		page = append(page, '\n')
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(page))
	if err != nil {
		return nil, fmt.Errorf("the page is not in Prometheus's text form: %w", err)
	}
	var out []Series
	for _, name := range slices.Sorted(maps.Keys(families)) {
		for _, m := range families[name].GetMetric() {
			out = append(out, flatten(families[name], m)...)
		}
	}
	if len(out) == 0 {
		return nil, ErrEmpty
	}
	return out, nil
}

// flatten gives the lines of which one metric was made.
func flatten(f *dto.MetricFamily, m *dto.Metric) []Series {
	labels := map[string]string{}
	for _, l := range m.GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	one := func(suffix string, kind record.SeriesKind, v float64) Series {
		return Series{Name: f.GetName() + suffix, Labels: maps.Clone(labels), Kind: kind, Value: v}
	}
	switch {
	case m.Histogram != nil:
		h := m.GetHistogram()
		out := []Series{one("_count", record.HistogramPart, count(h.SampleCountFloat, h.SampleCount)), one("_sum", record.HistogramPart, h.GetSampleSum())}
		for _, b := range h.GetBucket() {
			s := one("_bucket", record.HistogramPart, count(b.CumulativeCountFloat, b.CumulativeCount))
			s.Labels["le"] = strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64)
			out = append(out, s)
		}
		return out
	case m.Summary != nil:
		s := m.GetSummary()
		out := []Series{one("_count", record.SummaryPart, float64(s.GetSampleCount())), one("_sum", record.SummaryPart, s.GetSampleSum())}
		for _, q := range s.GetQuantile() {
			part := one("", record.SummaryPart, q.GetValue())
			part.Labels["quantile"] = strconv.FormatFloat(q.GetQuantile(), 'g', -1, 64)
			out = append(out, part)
		}
		return out
	case m.Counter != nil:
		return []Series{one("", record.Counter, m.GetCounter().GetValue())}
	case m.Gauge != nil:
		return []Series{one("", record.Gauge, m.GetGauge().GetValue())}
	case m.Untyped != nil:
		return []Series{one("", record.Untyped, m.GetUntyped().GetValue())}
	}
	return nil
}

// count is a number of observations, which some libraries write as a real number.
func count(f *float64, n *uint64) float64 {
	if f != nil {
		return *f
	}
	if n != nil {
		return float64(*n)
	}
	return 0
}

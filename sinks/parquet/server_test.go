package parquet

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/sinks/record"
)

// What the server told of itself comes back as it was written; what is no number is
// null, and a run without the table has none.
func TestServerRoundTrip(t *testing.T) {
	w, dir, m := newWriter(t, (&clock{begin}).now)
	rows := []record.ServerSample{
		{Place: ladderPlace(1, 2), Time: begin, TS: 1.5, LateS: 0.25, Forced: true, Series: "kv_usage", Source: "vllm:gpu_cache_usage_perc", Labels: "engine=0,model_name=m", Kind: record.Gauge, Value: new(0.97)},
		{Place: ladderPlace(1, 2), Time: begin, TS: 1.5, Series: "vllm:e2e_sum", Source: "vllm:e2e_sum", Kind: record.HistogramPart},
		{Time: begin.Add(time.Second), TS: 2.5, Series: "preemptions", Source: "vllm:num_preemptions_total", Kind: record.Counter, Value: new(40.0)},
	}
	for i := range rows {
		if err := w.Write(record.Item{Server: &rows[i]}); err != nil {
			t.Fatal(err)
		}
	}
	bad := record.ServerSample{Time: begin, Series: "odd\xe3", Source: "odd", Labels: strings.Repeat("x", 300), Kind: record.Untyped, Value: new(math.NaN())}
	if err := w.Write(record.Item{Server: &bad}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m.Parts = w.Parts()
	got, err := ReadServer(dir, m)
	if err != nil || len(got) != 4 || w.Counts().Server != 4 {
		t.Fatalf("%d rows, %v", len(got), err)
	}
	if got[3].Value != nil || got[3].Series != "odd\uFFFD" {
		t.Errorf("%+v", got[3])
	}
	if d := cmp.Diff(rows, got[:3]); d != "" {
		t.Error(d)
	}
	m.Parts = []record.Part{}
	if none, err := ReadServer(dir, m); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
}

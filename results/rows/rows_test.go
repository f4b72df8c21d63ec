package rows_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rung/results/rows"
	"rung/sinks/parquet"
	"rung/sinks/record"
)

// full is a request with something in each field.
func full() record.Request {
	q := record.Request{
		Place: record.Place{Phase: record.Measure, Ladder: "batch", Pass: 1, Rung: 2, Value: 4, Round: 3, Attempt: 1},
		ID:    "00000000000000ff", Index: 5, Time: time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC),
		DueTS: 1, SentTS: 1.5, FirstByteTS: new(1.75), DoneTS: 3, FirstTokenTS: new(2.0), Chunks: new(3), ChunkGapsS: []float64{0.25, 0.5}, GapS: new(0.125),
		InFlight: 8, Inputs: 4, InputsDone: 3, InputTokensPlanned: 512, InputTokens: new(511), OutputTokensPlanned: new(64), OutputTokens: new(63), CachedTokens: new(16),
		UsageSource: record.BodyUsage, FinishReason: "length", BodyBytes: 99, BodySHA256: "ab", ResponseBytes: 98,
		ServerTotalS: new(1.0), ServerTokenisationS: new(0.1), ServerQueueS: new(0.2), ServerInferenceS: new(0.3),
		Outcome: record.TooLong, Limit: record.LimitTokens, Counted: true, RejectReason: "why", Status: new(413), RetryAfterS: new(9.0), Stage: record.StageTotal,
		Error: "too long", Incident: new(int64(7)), ConnReused: true, ResetIdle: false, Protocol: "HTTP/1.1",
	}
	return q
}

func only(t *testing.T, table *rows.Table) *rows.Attempt {
	t.Helper()
	if n := len(table.Attempts()); n != 1 {
		t.Fatalf("%d attempts", n)
	}
	return table.Attempts()[0]
}

// What a row keeps is what the request had.
func TestRowIsTheRequest(t *testing.T) {
	q := full()
	a := only(t, rows.Of([]record.Request{q}))
	want := rows.Row{
		Kind: &rows.Kind{
			Value: 4, InFlight: 8, Inputs: 4, InputsDone: 3, InputTokensPlanned: 512,
			InputTokens: new(511), OutputTokensPlanned: new(64), OutputTokens: new(63), CachedTokens: new(16), FinishReason: "length",
			Outcome: record.TooLong, Limit: record.LimitTokens, Incident: new(int64(7)), Counted: true, RejectReason: "why", Status: new(413),
		},
		Times: record.Times{DueTS: 1, SentTS: 1.5, DoneTS: 3}, FirstTokenTS: 2, ChunkGapsS: []float64{0.25, 0.5},
	}
	r := a.At(0)
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
	if r.LatencyS() != q.LatencyS() || r.TTFTS() != q.TTFTS() || r.TPOTS() != q.TPOTS() || r.Failed() != q.Failed() || r.Sent() != q.Sent() || a.Words(record.TooLong) != "too long" {
		t.Errorf("%g s, %g s, %g s, %t", r.LatencyS(), r.TTFTS(), r.TPOTS(), r.Failed())
	}
	at := q.Place
	at.Value = 0
	if a.Place != at {
		t.Errorf("at %+v", a.Place)
	}
}

// The columns that are named are all that a table is made from.
func TestColumnsAreEnough(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC) }
	dir, id, err := parquet.CreateRun(t.TempDir(), "exp", "3fa91c00", "", now)
	if err != nil {
		t.Fatal(err)
	}
	w, err := parquet.NewWriter(dir, parquet.Identity{Experiment: "exp", RunID: id}, now)
	if err != nil {
		t.Fatal(err)
	}
	q := full()
	for f := range reflect.TypeFor[record.Request]().NumField() {
		if v := reflect.ValueOf(q).Field(f); v.IsZero() && reflect.TypeFor[record.Request]().Field(f).Name != "ResetIdle" {
			t.Fatalf("field %d is not filled in", f)
		}
	}
	again := q
	again.ResetIdle, again.Index = true, 6
	all := []record.Request{q, again}
	for i := range all {
		if err := w.Write(record.Item{Request: &all[i]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := rows.New()
	m := record.Manifest{RunID: id, Status: record.Done, Parts: w.Parts()}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	if err := parquet.ScanRequests(dir, m, rows.Columns(), got.Add); err != nil {
		t.Fatal(err)
	}
	want := rows.Of(all)
	if d := cmp.Diff(slices.Collect(want.All()), slices.Collect(got.All())); d != "" {
		t.Error(d)
	}
	if a, b := only(t, want), only(t, got); a.Place != b.Place || a.Words(record.TooLong) != b.Words(record.TooLong) {
		t.Errorf("%+v, %q", b.Place, b.Words(record.TooLong))
	}
}

// In whatever order requests come, the table is the same: by place, and there by number.
func TestOrderMeansNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []record.Request
		for i := range rapid.IntRange(1, 60).Draw(t, "requests") {
			number := rapid.IntRange(0, 9).Draw(t, "number")
			at := float64(10*i + number)
			q := record.Request{
				Place: record.Place{Phase: record.Measure, Ladder: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "ladder"), Round: rapid.IntRange(0, 2).Draw(t, "round")},
				Index: number, DueTS: at, SentTS: at, DoneTS: at + 1,
				OutputTokens: rapid.SampledFrom([]*int{nil, new(1), new(2)}).Draw(t, "tokens"),
				Outcome:      rapid.SampledFrom([]record.Outcome{record.OK, record.OOM, record.Dropped}).Draw(t, "outcome"),
			}
			if q.Outcome == record.OOM {
				q.Error = rapid.SampledFrom([]string{"", "one", "two"}).Draw(t, "error")
			}
			if rapid.Bool().Draw(t, "streamed") {
				q.FirstTokenTS, q.ChunkGapsS = new(at+0.5), []float64{at}
			}
			all = append(all, q)
		}
		want := rows.Of(all)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		got := rows.New()
		for i := range all {
			got.Add(all[i : i+1])
		}
		if d := cmp.Diff(slices.Collect(want.All()), slices.Collect(got.All()), cmp.Comparer(sameTime)); d != "" || want.Len() != len(all) {
			t.Fatalf("%d rows: %s", want.Len(), d)
		}
		for i, a := range want.Attempts() {
			if b := got.Attempts()[i]; a.Place != b.Place || a.Words(record.OOM) != b.Words(record.OOM) {
				t.Fatalf("%+v says %q, and %+v %q", a.Place, a.Words(record.OOM), b.Place, b.Words(record.OOM))
			}
			last := -1
			for r := range a.All() {
				number := int(r.DueTS) % 10
				if number < last {
					t.Fatalf("number %d after %d", number, last)
				}
				last = number
			}
		}
	})
}

func sameTime(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// Leaving requests out leaves the others as they were.
func TestWhere(t *testing.T) {
	var all []record.Request
	for i := range 10 {
		q := full()
		q.Index, q.Round, q.DueTS = i, i%2, float64(i)
		all = append(all, q)
	}
	table := rows.Of(all)
	if table.Where(func(rows.Row) bool { return true }) != table {
		t.Error("a table of which all is wanted is another")
	}
	some := table.Where(func(r rows.Row) bool { return int(r.DueTS)%2 == 0 && r.DueTS > 2 })
	var left []float64
	for r := range some.All() {
		left = append(left, r.DueTS)
	}
	if !slices.Equal(left, []float64{4, 6, 8}) || some.Len() != 3 || len(some.Attempts()) != 1 || table.Len() != 10 {
		t.Errorf("%v of %d, %d attempts", left, some.Len(), len(some.Attempts()))
	}
	var none *rows.Table
	if none.Len() != 0 || len(none.Attempts()) != 0 || none.Where(func(rows.Row) bool { return true }).Len() != 0 {
		t.Error("no table has rows")
	}
}

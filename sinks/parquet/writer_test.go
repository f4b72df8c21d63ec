package parquet

import (
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/sinks"
	"rung/sinks/record"
)

var update = flag.Bool("update", false, "write the golden files")

var _ sinks.Sink = (*Writer)(nil)

// clock is a wall clock that a test moves.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

var begin = time.Date(2026, 11, 30, 8, 17, 51, 123456000, time.UTC)

func ladderPlace(pass, rung int) record.Place {
	return record.Place{Phase: record.Measure, Ladder: "batch", Pass: pass, Rung: rung, Value: float64(int(1) << rung), Round: 2, Attempt: 1}
}

func fullRequest() record.Request {
	return record.Request{
		Place: ladderPlace(1, 2), ID: "0123456789abcdef", Index: 7,
		Time: begin, DueTS: 1.25, SentTS: 1.2500001, FirstByteTS: new(1.3), DoneTS: 1.4,
		InFlight: 4, Inputs: 8, InputsDone: 8, InputTokensPlanned: 4096, InputTokens: new(4096),
		OutputTokensPlanned: new(16), OutputTokens: new(16), CachedTokens: new(0),
		BodyBytes: 9000, BodySHA256: strings.Repeat("ab", 32), ResponseBytes: 70000,
		Outcome: record.OK, Counted: true, Status: new(200), ConnReused: true,
	}
}

func failedRequest() record.Request {
	return record.Request{
		Place: ladderPlace(0, 3), ID: "fedcba9876543210", Time: begin.Add(time.Second), DueTS: 2, SentTS: 2, DoneTS: 3,
		InFlight: 1, Inputs: 16, InputTokensPlanned: 8192, Outcome: record.OOM, RejectReason: "edge",
		Status: new(500), RetryAfterS: new(2.0), Stage: record.StageTotal, Error: "CUDA out of memory", Incident: new(int64(1)),
	}
}

func probeRequest() record.Request {
	return record.Request{
		Place: record.Place{Phase: record.Probe}, ID: "00", Time: begin, Inputs: 1, InputTokensPlanned: 1, Outcome: record.Refused,
	}
}

func fullSample() record.Sample {
	return record.Sample{
		Place: ladderPlace(1, 2), Time: begin, TS: 1.5, LateS: 0.001, Forced: true, Device: 1, UUID: "GPU-1", Name: "H100", MemCall: "v2",
		MemTotalBytes: new(int64(80 << 30)), MemUsedBytes: new(int64(9 << 30)), MemFreeBytes: new(int64(70 << 30)), MemReservedBytes: new(int64(1 << 30)),
		UtilGPUPct: new(97.0), UtilSamplesPct: []float64{100, 94}, UtilMemPct: new(40.0), PowerW: new(512.5), TemperatureC: new(61.0), SMClockMHz: new(1980.0), MemClockMHz: new(2619.0),
		EnergyJ: new(1e9), ThrottleReasons: new(int64(4)),
	}
}

func bareSample() record.Sample {
	return record.Sample{Time: begin.Add(time.Second), TS: 2.5, UUID: "GPU-1", Name: "GB10", MemCall: "v2"}
}

func someEvents() []record.Event {
	round := ladderPlace(1, 2)
	return []record.Event{
		{Time: begin, Kind: record.RunBegin},
		{Time: begin, TS: 1, Kind: record.LadderBegin, Place: record.Place{Ladder: "batch"}},
		{Time: begin, TS: 2, Kind: record.RoundEnd, Place: round, Verdict: record.Accepted, WindowS: new(1.5), WallS: new(2.0), MeanInFlight: new(3.99), OK: new(40), Failed: new(0)},
		{Time: begin, TS: 3, Kind: record.EdgeFound, Place: record.Place{Phase: record.Measure, Ladder: "batch", Rung: 5, Value: 32}, Reason: "outcome oom in 1 of 20 requests"},
	}
}

// newWriter makes a run's folder and a writer in it.
func newWriter(t *testing.T, now func() time.Time) (*Writer, string, record.Manifest) {
	t.Helper()
	dir, id, err := CreateRun(t.TempDir(), "exp", "3fa91c00", "", now)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(dir, Identity{Experiment: "exp", RunID: id}, now)
	if err != nil {
		t.Fatal(err)
	}
	return w, dir, record.Manifest{SchemaVersion: record.SchemaVersion, Experiment: "exp", RunID: id, Status: record.Done}
}

func write(t *testing.T, w *Writer, items ...any) {
	t.Helper()
	for _, it := range items {
		var item record.Item
		switch v := it.(type) {
		case record.Request:
			item.Request = &v
		case record.Sample:
			item.Sample = &v
		case record.Event:
			item.Event = &v
		}
		if err := w.Write(item); err != nil {
			t.Fatal(err)
		}
	}
}

// finish closes the writer and lists its parts in the manifest.
func finish(t *testing.T, w *Writer, m *record.Manifest) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m.Parts, m.Counts = w.Parts(), w.Counts()
}

func paths(parts []record.Part) []string {
	var out []string
	for _, p := range parts {
		out = append(out, p.Path)
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	w, dir, m := newWriter(t, (&clock{begin}).now)
	reqs := []record.Request{probeRequest(), fullRequest(), failedRequest()}
	smps := []record.Sample{fullSample(), bareSample()}
	evs := someEvents()
	for _, r := range reqs {
		write(t, w, r)
	}
	for _, s := range smps {
		write(t, w, s)
	}
	for _, e := range evs {
		write(t, w, e)
	}
	finish(t, w, &m)
	if err := WriteManifest(dir, m); err != nil {
		t.Fatal(err)
	}
	got, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	gotReqs, err := ReadRequests(dir, got)
	if err != nil {
		t.Fatal(err)
	}
	gotSmps, err := ReadSamples(dir, got)
	if err != nil {
		t.Fatal(err)
	}
	gotEvs, err := ReadEvents(dir, got)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(reqs, gotReqs); d != "" {
		t.Errorf("requests (-want +got):\n%s", d)
	}
	if d := cmp.Diff(smps, gotSmps); d != "" {
		t.Errorf("samples (-want +got):\n%s", d)
	}
	if d := cmp.Diff(evs, gotEvs); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	if d := cmp.Diff(record.Counts{Requests: 3, Counted: 1, Failed: 2, Samples: 2, Events: 4}, got.Counts); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
}

func TestPartsFollowThePlace(t *testing.T) {
	c := &clock{begin}
	w, _, m := newWriter(t, c.now)
	at := func(phase record.Phase, ladder string, pass, rung int) record.Request {
		return record.Request{Place: record.Place{Phase: phase, Ladder: ladder, Pass: pass, Rung: rung}, Time: begin}
	}
	write(t, w,
		at(record.Probe, "", 0, 0),
		at(record.Warmup, "", 0, 0), at(record.Baseline, "", 0, 0),
		at(record.Warmup, "../a b", 0, 0), at(record.Measure, "../a b", 0, 0), at(record.Confirm, "../a b", 0, 0),
		at(record.Warmup, "../a b", 0, 1))
	c.t = c.t.Add(partAge)
	write(t, w, record.Event{Kind: record.RoundEnd, Place: ladderPlace(0, 1)}) // a part ends with a round, not within it
	write(t, w, at(record.Measure, "../a b", 0, 1), at(record.Measure, "../a b", 1, 1))
	write(t, w, record.Sample{Time: begin}, fullSample(), record.Sample{Time: begin}) // a pause stays with what is beside it
	for _, e := range []record.Event{
		{Kind: record.LadderBegin, Place: record.Place{Ladder: "batch"}}, {Kind: record.RungBegin, Place: ladderPlace(0, 1)},
		{Kind: record.PassEnd, Place: ladderPlace(0, 0)}, {Kind: record.LadderEnd, Place: ladderPlace(0, 0)},
	} {
		write(t, w, e)
	}
	finish(t, w, &m)
	want := []string{
		"requests/0001-probe.parquet", "requests/0002-baseline.parquet", "requests/0003--.-a-b-p0-r0.parquet",
		"requests/0004--.-a-b-p0-r1.parquet", "requests/0005--.-a-b-p0-r1.parquet", "requests/0006--.-a-b-p1-r1.parquet",
		"gpu/0001-batch-p1-r2.parquet", "events/0001-batch-p0-r1.parquet",
	}
	if d := cmp.Diff(want, paths(m.Parts)); d != "" {
		t.Errorf("parts (-want +got):\n%s", d)
	}
}

// Once a rung is over its rows are on disk, whatever comes after.
func TestRungIsWrittenAtItsEnd(t *testing.T) {
	w, dir, _ := newWriter(t, (&clock{begin}).now)
	r := fullRequest()
	r.Place = ladderPlace(0, 1)
	write(t, w, r)
	write(t, w, record.Event{Kind: record.RoundEnd, Place: ladderPlace(0, 1), Time: begin})
	if n := len(w.Parts()); n != 0 {
		t.Fatalf("%d parts before the rung's end", n)
	}
	write(t, w, record.Event{Kind: record.RungEnd, Place: ladderPlace(0, 1), Time: begin})
	want := []string{"requests/0001-batch-p0-r1.parquet", "events/0001-batch-p0-r1.parquet"}
	if d := cmp.Diff(want, paths(w.Parts())); d != "" {
		t.Errorf("parts (-want +got):\n%s", d)
	}
	for _, part := range want {
		if _, err := os.Stat(filepath.Join(dir, part)); err != nil {
			t.Error(err)
		}
	}
}

// full is a disk with room for n bytes.
type full struct{ n int }

func (f *full) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

// A full disk is named as such, wherever in the file it shows.
func TestFullDiskIsNamed(t *testing.T) {
	for _, room := range []int{0, 3, 100, 1000} {
		err := requests().encode(&full{room}, Identity{}, []record.Request{fullRequest()})
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("room for %d bytes: %v", room, err)
		}
	}
}

func TestPartRollsBySize(t *testing.T) {
	w, _, m := newWriter(t, (&clock{begin}).now)
	r := fullRequest()
	r.Error = strings.Repeat("x", 32<<20)
	end := record.Event{Kind: record.RoundEnd, Place: r.Place}
	write(t, w, r, r, r, end, r, end)
	finish(t, w, &m)
	if len(m.Parts) != 3 || m.Parts[0].Rows != 3 || m.Parts[1].Rows != 1 {
		t.Errorf("parts %+v, want three rows of a round and one", m.Parts)
	}
}

func TestTextsAreCleaned(t *testing.T) {
	w, dir, m := newWriter(t, (&clock{begin}).now)
	r := failedRequest()
	r.Error = "\xff" + strings.Repeat("é", maxText)
	r.DoneTS, r.RetryAfterS = math.NaN(), new(math.Inf(1))
	write(t, w, r)
	finish(t, w, &m)
	got, err := ReadRequests(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	if e := got[0].Error; len(e) > maxText || len(e) < maxText-4 || e != strings.ToValidUTF8(e, "") || !strings.HasPrefix(e, "\uFFFDé") {
		t.Errorf("error of %d bytes, %q...", len(e), e[:8])
	}
	if got[0].RetryAfterS != nil || got[0].DoneTS != 0 {
		t.Errorf("what is not finite came back as %v, %v, want null", got[0].RetryAfterS, got[0].DoneTS)
	}
}

func TestFailedPartIsNamedAndKept(t *testing.T) {
	w, dir, m := newWriter(t, (&clock{begin}).now)
	write(t, w, probeRequest(), fullRequest())
	folder := filepath.Join(dir, "requests")
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	r := failedRequest()
	err := w.Write(record.Item{Request: &r})
	if err == nil || !strings.Contains(err.Error(), "requests/0002-batch-p1-r2.parquet (1 rows)") {
		t.Errorf("error %v, want the part's name", err)
	}
	if err := os.Rename(folder+".away", folder); err != nil {
		t.Fatal(err)
	}
	finish(t, w, &m)
	got, err := ReadRequests(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 {
		t.Errorf("%d rows, want 3", len(got))
	}
	left, err := filepath.Glob(filepath.Join(folder, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files left: %v, %v", left, err)
	}
}

func TestWriterRefusesAFolderWithTables(t *testing.T) {
	w, dir, m := newWriter(t, (&clock{begin}).now)
	finish(t, w, &m)
	if _, err := NewWriter(dir, Identity{}, (&clock{begin}).now); err == nil {
		t.Error("a second writer in the same folder, want an error")
	}
}

func TestSchemaGolden(t *testing.T) {
	var b strings.Builder
	if err := DescribeSchema(&b); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "schema.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("schema changed (-want +got), see record.SchemaVersion:\n%s", d)
	}
}

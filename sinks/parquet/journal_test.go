package parquet

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rung/sinks/record"
)

// round is one of n requests at a rung, as the runner gives it out: drafts as they come
// back, then rows with their verdict, then the round's end.
func round(rung, number, n int) []record.Item {
	p := ladderPlace(0, rung)
	p.Round, p.Attempt = number, 0
	items := []record.Item{{Event: &record.Event{Kind: record.RoundBegin, Place: p, Time: begin}}}
	var rows []record.Item
	for i := range n {
		r := fullRequest()
		r.Place, r.Index, r.Counted, r.SentTS = p, i, true, float64(100*rung+10*number+i)
		draft := r
		draft.Counted = false
		items = append(items, record.Item{Draft: &draft}, record.Item{Sample: new(fullSample())})
		rows = append(rows, record.Item{Request: &r})
	}
	items = append(items, rows...)
	items = append(items, record.Item{Event: &record.Event{Kind: record.RoundEnd, Place: p, Time: begin, Verdict: record.Accepted}})
	if number == 1 {
		p.Round = 0
		items = append(items, record.Item{Event: &record.Event{Kind: record.RungEnd, Place: p, Time: begin}})
	}
	return items
}

func twoRungs() []record.Item {
	var items []record.Item
	for rung := range 2 {
		for number := range 2 {
			items = append(items, round(rung, number, 3)...)
		}
	}
	return items
}

// tally is what the items hold: how many requests count, and how many came back whose
// round has no end.
func tally(items []record.Item) (counted, open, samples, events int) {
	drafts := 0
	judged := map[record.Place]bool{}
	for _, it := range items {
		if it.Event != nil && it.Event.Kind == record.RoundEnd {
			judged[it.Event.Place] = true
		}
	}
	for _, it := range items {
		switch {
		case it.Draft != nil:
			drafts++
		case it.Request != nil && judged[it.Request.Place]:
			counted++
		case it.Sample != nil:
			samples++
		case it.Event != nil:
			events++
		}
	}
	return counted, drafts - counted, samples, events
}

// readBack counts what a reader finds.
func readBack(t *testing.T, dir string, m record.Manifest) (counted, open, samples, events int) {
	t.Helper()
	rows, err := ReadRequests(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[float64]bool{}
	for _, r := range rows {
		if seen[r.SentTS] {
			t.Errorf("the request sent at %g is there twice", r.SentTS)
		}
		seen[r.SentTS] = true
		switch {
		case r.Counted:
			counted++
		case r.RejectReason == record.NoVerdict:
			open++
		}
	}
	s, err := ReadSamples(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	e, err := ReadEvents(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	return counted, open, len(s), len(e)
}

func counts(n ...int) []int { return n }

// Wherever a process ends after a flush, all that it was given is read back; and a
// Writer that takes the run up goes on behind it.
func TestNothingIsLostAfterAFlush(t *testing.T) {
	all := twoRungs()
	for cut := range len(all) + 1 {
		w, dir, m := newWriter(t, (&clock{begin}).now)
		m.Status = record.Running
		for _, it := range all[:cut] {
			if err := w.Write(it); err != nil {
				t.Fatal(err)
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.release(); err != nil { // the process is gone
			t.Fatal(err)
		}
		c, o, s, e := tally(all[:cut])
		want := counts(c, o, s, e)
		if d := cmp.Diff(want, counts(readBack(t, dir, m))); d != "" {
			t.Fatalf("after %d items (-written +read):\n%s", cut, d)
		}
		again, err := Reopen(dir, m, (&clock{begin}).now)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, counts(readBack(t, dir, m))); d != "" {
			t.Fatalf("taken up after %d items (-written +read):\n%s", cut, d)
		}
		for _, it := range round(5, 1, 2) {
			if err := again.Write(it); err != nil {
				t.Fatal(err)
			}
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		m.Status, m.Parts = record.Done, again.Parts()
		if err := again.End(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(counts(c+2, o, s+2, e+3), counts(readBack(t, dir, m))); d != "" {
			t.Errorf("ended after %d items and a round (-written +read):\n%s", cut, d)
		}
		if n := again.Counts(); n.Requests != int64(c+o+2) || n.Counted != int64(c+2) || n.Samples != int64(s+2) || n.Events != int64(e+3) {
			t.Errorf("after %d items: counts %+v", cut, n)
		}
		if _, err := os.Stat(filepath.Join(dir, journalFolder)); err == nil {
			t.Error("the journal is still there")
		}
	}
}

// A journal that was cut or changed anywhere, as by a full disk or a machine that lost its
// power, gives what came before that, and never a wrong figure.
func TestCutJournal(t *testing.T) {
	w, dir, m := newWriter(t, (&clock{begin}).now)
	m.Status = record.Running
	for _, it := range round(0, 0, 3) {
		if err := w.Write(it); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, journalFolder, "requests-0001.log")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all, err := ReadRequests(dir, m)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d rows, %v", len(all), err)
	}
	beginning := func(what string, at int) int {
		t.Helper()
		rows, err := ReadRequests(dir, m)
		if err != nil {
			t.Fatalf("%s at %d of %d bytes: %v", what, at, len(whole), err)
		}
		if d := cmp.Diff(all[:len(rows)], rows, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%s at %d of %d bytes (-written +read):\n%s", what, at, len(whole), d)
		}
		return len(rows)
	}
	most := -1
	for n := 0; n <= len(whole); n += 1 + len(whole)/2000 {
		if err := os.WriteFile(file, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		rows := beginning("cut", n)
		if rows < most {
			t.Fatalf("cut at %d of %d bytes: %d rows after %d", n, len(whole), rows, most)
		}
		most = rows
	}
	for i := 0; i < len(whole); i += 1 + len(whole)/2000 {
		b := append([]byte(nil), whole...)
		b[i] ^= 0x55
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
		beginning("changed", i)
	}
}

// Two processes never write to one run.
func TestRunIsTakenUpOnce(t *testing.T) {
	w, dir, m := newWriter(t, time.Now)
	for _, err := range []error{Busy(dir), func() error { _, err := Reopen(dir, m, time.Now); return err }()} {
		if err == nil || !strings.Contains(err.Error(), "another rung is writing") {
			t.Errorf("%v", err)
		}
	}
	finish(t, w, &m)
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	if err := Busy(dir); err != nil {
		t.Errorf("after its end: %v", err)
	}
}

// Rows that could not be made a part stay in the journal, and are read from there.
func TestUnwrittenPartStaysInTheJournal(t *testing.T) {
	w, dir, m := newWriter(t, (&clock{begin}).now)
	for _, it := range round(0, 0, 3) {
		if err := w.Write(it); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "requests", ".0001-batch-p0-r0.parquet.tmp"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "requests")); err != nil { // removed under us
		t.Fatal(err)
	}
	if err := w.Close(); err == nil {
		t.Fatal("a part was written into a folder that is gone")
	}
	m.Status, m.Parts = record.Failed, w.Parts()
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	if c, o, s, e := readBack(t, dir, m); c != 3 || o != 0 || s != 3 || e != 2 {
		t.Errorf("%d requests, %d open, %d samples, %d events", c, o, s, e)
	}
}

// Case 73: a process that is killed leaves no footer. The rounds before are read, the one
// that was open counts nowhere, and what is not a number is unknown and not NaN.
func TestCase73(t *testing.T) {
	w, dir, m := newWriter(t, (&clock{begin}).now)
	m.Status = record.Running
	items := append(round(0, 0, 3), round(0, 2, 3)...)
	third := round(0, 3, 3)
	for _, it := range append(items, third[:len(third)-2]...) { // cut between its rows
		for _, r := range []*record.Request{it.Request, it.Draft} {
			if r != nil {
				r.DoneTS, r.FirstByteTS = math.NaN(), new(math.NaN())
			}
		}
		if err := w.Write(it); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := w.release(); err != nil {
		t.Fatal(err)
	}
	if c, o, _, _ := readBack(t, dir, m); c != 6 || o != 3 {
		t.Errorf("%d requests count and %d are of the open round", c, o)
	}
	if _, err := Reopen(dir, m, (&clock{begin}).now); err != nil {
		t.Fatal(err)
	}
	rows, err := ReadRequests(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.FirstByteTS != nil {
			t.Errorf("NaN came back as %v, and not as unknown", *r.FirstByteTS)
		}
	}
}

// A part in which one byte changed, or that was cut, is an error that names it: never a
// crash, and never another figure.
func TestDamagedPart(t *testing.T) {
	dir, m, part := writtenRun(t)
	whole, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	const tries = 2000
	for i := range tries {
		at := i * len(whole) / tries
		b := append([]byte(nil), whole...)
		b[at] ^= byte(1 + i%255)
		for what, damaged := range map[string][]byte{"changed": b, "cut": whole[:at]} {
			if err := os.WriteFile(part, damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadRequests(dir, m); err == nil || !strings.Contains(err.Error(), filepath.Base(part)) {
				t.Fatalf("%s at %d of %d bytes: %v", what, at, len(whole), err)
			}
		}
	}
}

// A recording that is killed has lost no more than its last moment.
func TestRecordingIsKilled(t *testing.T) {
	c := &clock{begin}
	dir, id, err := CreateRun(t.TempDir(), "sample", "3fa91c00", "", c.now)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewRecording(dir, Identity{Experiment: "sample", RunID: id}, c.now)
	if err != nil {
		t.Fatal(err)
	}
	const n = 1000
	for range n {
		c.t = c.t.Add(flushEvery)
		if err := w.Write(bareSample()); err != nil {
			t.Fatal(err)
		}
	}
	samples, err := ReadSamples(dir, record.Manifest{SchemaVersion: record.SchemaVersion, RunID: id, Status: record.Running})
	if err != nil || len(samples) != n {
		t.Errorf("%d of %d samples, %v", len(samples), n, err)
	}
}

package parquet

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rung/sinks/record"
)

// writtenRun is a finished run with one part of requests.
func writtenRun(t *testing.T) (dir string, m record.Manifest, part string) {
	t.Helper()
	w, dir, m := newWriter(t, (&clock{begin}).now)
	write(t, w, fullRequest(), fullRequest(), fullRequest())
	finish(t, w, &m)
	return dir, m, filepath.Join(dir, filepath.FromSlash(m.Parts[0].Path))
}

func TestReaderChecksParts(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(t *testing.T, m *record.Manifest, part string)
		want string
	}{
		"altered": {func(t *testing.T, _ *record.Manifest, part string) {
			b, err := os.ReadFile(part)
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)/2] ^= 1
			if err := os.WriteFile(part, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "SHA-256"},
		"cut": {func(t *testing.T, m *record.Manifest, part string) {
			if err := os.Truncate(part, m.Parts[0].Bytes/2); err != nil {
				t.Fatal(err)
			}
		}, "cut or altered"},
		"missing": {func(t *testing.T, _ *record.Manifest, part string) {
			if err := os.Remove(part); err != nil {
				t.Fatal(err)
			}
		}, "no such file"},
		"outside": {func(_ *testing.T, m *record.Manifest, _ string) {
			m.Parts[0].Path = "../../etc/passwd"
		}, "outside the run's folder"},
		"other run": {func(_ *testing.T, m *record.Manifest, _ string) {
			m.RunID = "20260101T000000Z-aaaaaa"
		}, `is of run "2026`},
		"other count": {func(_ *testing.T, m *record.Manifest, _ string) {
			m.Parts[0].Rows = 7
		}, "manifest says 7"},
		"no digest": {func(_ *testing.T, m *record.Manifest, _ string) {
			m.Parts[0].SHA256 = ""
		}, "SHA-256"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, m, part := writtenRun(t)
			c.harm(t, &m, part)
			_, err := ReadRequests(dir, m)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), wayOut) {
				t.Errorf("error %v, want %q and the way out", err, c.want)
			}
		})
	}
}

// A run that was killed lists no parts; what lies whole on disk is read, and no
// damage there ends the process.
func TestUnlistedPartsAreRead(t *testing.T) {
	dir, m, part := writtenRun(t)
	m.Status, m.Parts = record.Running, nil
	if !Unfinished(dir, m) {
		t.Fatal("a running manifest is not Unfinished")
	}
	if err := os.RemoveAll(filepath.Join(dir, journalFolder)); err != nil { // as one had none once
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "requests", ".0002-x.parquet.tmp"), []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRequests(dir, m)
	if err != nil || len(got) != 3 {
		t.Fatalf("%d rows, %v, want 3", len(got), err)
	}
	whole, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(whole); i += 1 + len(whole)/400 {
		b := bytes.Clone(whole)
		b[i] ^= 0x55
		if err := os.WriteFile(part, b, 0o644); err != nil {
			t.Fatal(err)
		}
		_, _ = ReadRequests(dir, m) // an error or rows, never a crash
	}
}

func TestOnlyWholeFilesAppear(t *testing.T) {
	dir := t.TempDir()
	_, _, err := writeWhole(dir, "f", func(w io.Writer) error {
		if _, err := w.Write([]byte("half")); err != nil {
			return err
		}
		return io.ErrShortWrite
	})
	entries, _ := os.ReadDir(dir)
	if err == nil || len(entries) > 0 {
		t.Errorf("error %v and %d files, want an error and none", err, len(entries))
	}
}

// A round outside ladders that was sent again has two attempts there too: taken for
// one, the verdict of the first would be that of both.
func TestAttemptsOutsideLadders(t *testing.T) {
	w, dir, m := newWriter(t, (&clock{begin}).now)
	refused, counted := probeRequest(), probeRequest()
	refused.Phase, refused.RejectReason = record.Baseline, "throttled"
	counted.Phase, counted.Attempt, counted.Counted = record.Baseline, 1, true
	write(t, w, probeRequest(), refused, counted, record.Event{Kind: record.RoundEnd, Place: counted.Place, Time: begin}, record.Event{Kind: record.IdleEnd, Place: refused.Place, Time: begin})
	finish(t, w, &m)
	rows, err := ReadRequests(dir, m)
	if err != nil || len(rows) != 3 || rows[1].Attempt != 0 || rows[2].Attempt != 1 {
		t.Errorf("%d rows, %v: the third is of attempt %d", len(rows), err, rows[2].Attempt)
	}
	events, err := ReadEvents(dir, m)
	if err != nil || events[0].Attempt != 1 {
		t.Errorf("%+v, %v", events, err)
	}
}

// Rows that are read some at a time, into memory that is used again, are those that were
// written: whatever is null or empty in one has nothing of another.
func TestBatchesKeepApart(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	w, dir, m := newWriter(t, (&clock{begin}).now)
	var want []record.Request
	for i := range 5*batchRows + 17 {
		q := fullRequest()
		q.ID, q.Index, q.BodyBytes, q.DueTS = fmt.Sprintf("%016x", i), i, r.Int64(), 1.25-r.Float64()
		q.Counted, q.ConnReused, q.RejectReason = r.IntN(2) == 0, r.IntN(2) == 0, []string{"", "throttled", "edge"}[r.IntN(3)]
		if r.IntN(3) > 0 {
			q.Outcome, q.Error, q.InputTokens, q.Status = record.OOM, strings.Repeat("e", r.IntN(40)), nil, new(500+r.IntN(3))
		}
		if r.IntN(2) == 0 {
			q.FirstTokenTS, q.ChunkGapsS = new(1.3+r.Float64()/100), make([]float64, 1+r.IntN(5))
			for k := range q.ChunkGapsS {
				q.ChunkGapsS[k] = r.Float64()
			}
		}
		want = append(want, q)
		write(t, w, q)
	}
	finish(t, w, &m)
	got, err := ReadRequests(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%d rows, %d written: %s", len(got), len(want), d)
	}
}

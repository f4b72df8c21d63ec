package gpu

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rung/sinks/record"
)

// readingsOfAll is one reading of each state that a column can have, and its bounds.
func readingsOfAll() []taken {
	full := record.Sample{Device: 7, MemCall: "v2",
		MemTotalBytes: new(int64(math.MaxInt64)), MemUsedBytes: new(int64(0)), MemFreeBytes: new(int64(-1)), MemReservedBytes: new(int64(5)),
		UtilGPUPct: new(0.0), UtilMemPct: new(7.5), UtilSamplesPct: []float64{0, 99.5}, PowerW: new(250.501), TemperatureC: new(60.0),
		SMClockMHz: new(1980.0), MemClockMHz: new(math.MaxFloat64), EnergyJ: new(math.SmallestNonzeroFloat64), ThrottleReasons: new(int64(4)),
		Processes: []int64{41, math.MaxInt64}}
	return []taken{
		{at: 1, samples: []record.Sample{full, {Device: 65535}}},
		{at: math.MaxInt64, late: math.MaxInt64, missed: math.MaxUint32, forced: true, samples: []record.Sample{{MemCall: "v1", PowerW: new(0.0)}}},
		{samples: []record.Sample{}},
	}
}

func saidOf(all []taken) []byte {
	var b []byte
	for i := range all {
		b = appendTaken(b, &all[i])
	}
	return b
}

func diffTaken(a, b []taken) string { return cmp.Diff(a, b, cmp.AllowUnexported(taken{})) }

// A value stays that value, zero among them, and what was not told stays nil.
func TestReadingsRoundTrip(t *testing.T) {
	want := readingsOfAll()
	got, err := readTaken(saidOf(want))
	if err != nil {
		t.Fatal(err)
	}
	if d := diffTaken(want, got); d != "" {
		t.Error(d)
	}
}

// Each column has a bit of its own.
func TestEveryColumnAlone(t *testing.T) {
	var s record.Sample
	for i := range len(counts(&s)) + len(levels(&s)) {
		var want record.Sample
		if n := len(counts(&s)); i < n {
			*counts(&want)[i] = new(int64(i))
		} else {
			*levels(&want)[i-n] = new(float64(i))
		}
		all := []taken{{samples: []record.Sample{want}}}
		got, err := readTaken(saidOf(all))
		if d := diffTaken(all, got); d != "" || err != nil {
			t.Errorf("column %d: %v, %s", i, err, d)
		}
	}
}

// Readings that were cut are refused, but for a cut between two.
func TestReadingsCut(t *testing.T) {
	all := readingsOfAll()
	whole := saidOf(all)
	between := map[int]int{0: 0, len(saidOf(all[:1])): 1, len(saidOf(all[:2])): 2}
	for n := range whole {
		got, err := readTaken(whole[:n])
		if want, ok := between[n]; ok != (err == nil) || len(got) != want {
			t.Errorf("of %d bytes %d: %d readings, %v", len(whole), n, len(got), err)
		}
	}
}

// Lengths, bits and numbers that can't be are refused.
func TestReadingsDamaged(t *testing.T) {
	one := appendTaken(nil, &taken{samples: []record.Sample{{UtilGPUPct: new(1.0)}}})
	const samples, call, told, level, utils = 21, 25, 26, 28, 36
	for name, damage := range map[string]func(b []byte){
		"more samples than bytes": func(b []byte) { binary.LittleEndian.PutUint16(b[samples:], 65535) },
		"an unknown call":         func(b []byte) { b[call] = 3 },
		"an unknown column":       func(b []byte) { b[told+1] |= 0x10 },
		"no number":               func(b []byte) { binary.LittleEndian.PutUint64(b[level:], math.Float64bits(math.NaN())) },
		"infinity":                func(b []byte) { binary.LittleEndian.PutUint64(b[level:], math.Float64bits(math.Inf(1))) },
		"more values than bytes":  func(b []byte) { binary.LittleEndian.PutUint32(b[utils:], math.MaxUint32) },
		"early":                   func(b []byte) { b[15] = 0x80 },
	} {
		b := slices.Clone(one)
		damage(b)
		if got, err := readTaken(b); !errors.Is(err, errDamaged) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestFrames(t *testing.T) {
	stream := appendFrame(appendFrame(nil, pending, []byte("first")), answer, nil)
	in := strings.NewReader(string(stream))
	if k, body, err := readFrame(in); k != pending || string(body) != "first" || err != nil {
		t.Errorf("%d, %q, %v", k, body, err)
	}
	if k, body, err := readFrame(in); k != answer || len(body) != 0 || err != nil {
		t.Errorf("%d, %q, %v", k, body, err)
	}
	if _, _, err := readFrame(in); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	for n := 1; n < frameHead+len("first"); n++ {
		if _, _, err := readFrame(strings.NewReader(string(stream[:n]))); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	for _, head := range [][]byte{{0, 0, 0, 0, 0}, {5, 0, 0, 0, 0}, {byte(pending), 1, 0, 0x40, 0}, {byte(pending), 255, 255, 255, 255}} {
		if _, _, err := readFrame(strings.NewReader(string(head))); err == nil || !strings.Contains(err.Error(), "none of rung's") {
			t.Errorf("%v: %v", head, err)
		}
	}
}

// Whatever a child says, what is taken for readings is what would be said of them.
func FuzzReadings(f *testing.F) {
	whole := saidOf(readingsOfAll())
	f.Add(whole)
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		b := slices.Clone(whole[:random.IntN(len(whole))+1])
		b[random.IntN(len(b))] ^= byte(1 + random.IntN(255))
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		first, err := readTaken(b)
		if err != nil {
			return
		}
		again, err := readTaken(saidOf(first))
		if d := diffTaken(first, again); d != "" || err != nil {
			t.Errorf("%v\n%s", err, d)
		}
	})
}

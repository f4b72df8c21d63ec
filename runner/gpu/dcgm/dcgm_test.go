package dcgm

import (
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rung/sinks/record"
)

var update = flag.Bool("update", false, "write the golden files")

// exporter is a page whose text can be changed; an empty one is a failure.
type exporter struct {
	url  string
	text atomic.Value
	slow atomic.Bool
	n    atomic.Int64
}

func serve(t *testing.T, text string) *exporter {
	t.Helper()
	e := &exporter{}
	e.text.Store(text)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		e.n.Add(1)
		if e.slow.Load() {
			<-q.Context().Done()
			return
		}
		text, _ := e.text.Load().(string)
		if text == "" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	e.url = s.URL + "/metrics"
	return e
}

func open(t *testing.T, url string, devices ...string) *Exporter {
	t.Helper()
	e, err := Open(Options{URL: url, Devices: devices})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func sample(t *testing.T, e *Exporter) []record.Sample {
	t.Helper()
	s, err := e.Sample()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func file(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Pages of cards, of instances and with values that are none are read into the right
// columns.
func TestPages(t *testing.T) {
	for _, name := range []string{"page", "mig"} {
		t.Run(name, func(t *testing.T) {
			e := open(t, serve(t, file(t, name+".txt")).url)
			got, err := json.MarshalIndent(struct {
				Devices []record.Device
				Samples []record.Sample
			}{e.Devices(), sample(t, e)}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile("testdata/"+name+".golden", got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(file(t, name+".golden"), string(got)); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// The units are those of the table: bytes, joules, percent; what the exporter does not
// know is nil, and a series that it has not is named.
func TestColumns(t *testing.T) {
	e := open(t, serve(t, file(t, "mig.txt")).url, "GPU-bbbb")
	s := sample(t, e)[0]
	if *s.MemUsedBytes != 70_000<<20 || *s.MemReservedBytes != 1000<<20 || *s.MemTotalBytes != 81_559<<20 || s.MemCall != "dcgm" {
		t.Errorf("memory %d of %d by %q", *s.MemUsedBytes, *s.MemTotalBytes, s.MemCall)
	}
	if *s.EnergyJ != 123456.789 || *s.PowerW != 412.5 || *s.TemperatureC != 61 || *s.SMClockMHz != 1980 || *s.ThrottleReasons != 4 || *s.UtilGPUPct != 0 {
		t.Errorf("%+v", s)
	}
	if s.MemClockMHz != nil || s.UtilMemPct != nil {
		t.Errorf("a value that is none: %v, %v", s.MemClockMHz, s.UtilMemPct)
	}
	if d := cmp.Diff([]string{"processes"}, e.Devices()[0].Unsupported); d != "" {
		t.Error(d)
	}
}

// An instance is a device of its own, and its utilisation is the engine's.
func TestInstances(t *testing.T) {
	page := serve(t, file(t, "mig.txt"))
	for _, c := range []struct {
		devices []string
		want    []string
	}{
		{nil, []string{"GPU-aaaa/2", "GPU-aaaa/7", "GPU-bbbb"}},
		{[]string{"0"}, []string{"GPU-aaaa/2", "GPU-aaaa/7"}},
		{[]string{"GPU-aaaa/7"}, []string{"GPU-aaaa/7"}},
		{[]string{"1", "GPU-aaaa/2"}, []string{"GPU-aaaa/2", "GPU-bbbb"}},
	} {
		var got []string
		for _, s := range sample(t, open(t, page.url, c.devices...)) {
			got = append(got, s.UUID)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%v: %s", c.devices, d)
		}
	}
	e := open(t, page.url, "GPU-aaaa/7")
	if s := sample(t, e)[0]; *s.UtilGPUPct != 62.5 || *s.MemTotalBytes != 9728<<20 || !*e.Devices()[0].MIG {
		t.Errorf("%+v", s)
	}
}

// The memory's series are missing for an instance, and a label is no value: the other
// columns are kept, and the memory is unknown.
func TestCase63(t *testing.T) {
	e := open(t, serve(t, `DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-aaaa",modelName="<<<NULL>>>",GPU_I_ID="<<<NULL>>>"} 50
DCGM_FI_DEV_POWER_USAGE{gpu="0", UUID="GPU-aaaa"} 80.5
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-aaaa",GPU_I_ID="3"} 100
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-aaaa",GPU_I_ID="3"} 0.25
`).url)
	got := sample(t, e)
	if len(got) != 2 || got[0].UUID != "GPU-aaaa" || got[1].UUID != "GPU-aaaa/3" {
		t.Fatalf("%+v", got)
	}
	if s := got[0]; *s.TemperatureC != 50 || *s.PowerW != 80.5 || s.Name != "" || s.MemUsedBytes != nil || s.MemTotalBytes != nil || s.MemCall != "" {
		t.Errorf("%+v", s)
	}
	if s := got[1]; *s.UtilGPUPct != 25 || *s.MemFreeBytes != 100<<20 || s.MemUsedBytes != nil || s.MemTotalBytes != nil {
		t.Errorf("%+v", s)
	}
	if d := cmp.Diff([]string{"mem_total_bytes", "mem_used_bytes", "mem_free_bytes"}, e.Devices()[0].Unsupported[:3]); d != "" {
		t.Error(d)
	}
}

// A device that is not there, or a page of something else, is refused with what is there.
func TestOpenRefuses(t *testing.T) {
	for text, want := range map[string]string{
		file(t, "mig.txt"):       "no device GPU-zzzz on its page; there are 0 (GPU-aaaa/2)",
		"up 1\n":                 "no device GPU-zzzz",
		"":                       "status 500",
		"\x00\xe3\x81 no page\n": "not in Prometheus's text form",
	} {
		_, err := Open(Options{URL: serve(t, text).url, Devices: []string{"GPU-zzzz"}})
		if err == nil || !strings.Contains(err.Error(), want) || !utf8.ValidString(err.Error()) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Open(Options{URL: serve(t, "up 1\n").url}); err == nil || !strings.Contains(err.Error(), "no series DCGM_FI_") {
		t.Error(err)
	}
}

// A device that disappears, and a page that is gone or does not come, end the samples
// with a reason that can be read; a page that fails once does not.
func TestSamplesEnd(t *testing.T) {
	page := serve(t, file(t, "mig.txt"))
	e := open(t, page.url)
	page.text.Store(strings.ReplaceAll(file(t, "mig.txt"), "GPU-bbbb", "GPU-cccc"))
	if _, err := e.Sample(); err == nil || !strings.Contains(err.Error(), "device GPU-bbbb is no longer on its page") {
		t.Error(err)
	}
	page.text.Store("")
	if _, err := e.Sample(); err == nil || !strings.Contains(err.Error(), "status 500") {
		t.Error(err)
	}
	page.slow.Store(true)
	e.wait = 50 * time.Millisecond
	begun := time.Now()
	if _, err := e.Sample(); err == nil || !strings.Contains(err.Error(), "not there after") || time.Since(begun) > 2*time.Second {
		t.Error(err)
	}
}

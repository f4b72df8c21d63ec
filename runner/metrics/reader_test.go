package metrics

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rung/spec/plan"
)

// The pages of real servers, each while requests were in flight, are read into the
// right series.
func TestRealPages(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"vllm":       {"running": "2", "waiting": "2", "kv_tokens": "1.048576e+06"},
		"vllm-embed": {"kv_tokens": "128"},
		"tei":        {"waiting": "6", "batches": "9", "batch_inputs": "58", "batch_tokens": "6090", "requests_failed": "12"},
		"llamacpp":   {"running": "2", "waiting": "4", "prompt_tokens": "35", "output_tokens": "0", "batch_size_mean": "1", "cache_hits": "0"},
		"infinity":   {"requests": "15"},
	} {
		t.Run(name, func(t *testing.T) {
			got := mustRead(t, reader(t, texts(t, file(t, "testdata/"+name+".txt"))))
			for series, v := range want {
				if s := of(t, got, series); value(s) != v {
					t.Errorf("%s is %s, want %s", series, value(s), v)
				}
			}
			golden := "testdata/" + name + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(table(got)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(file(t, golden), table(got)); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// One measure has two names in the releases of a server: both are read into one
// series, with the name that was found; a page that is empty is none, and not zero.
func TestCase65(t *testing.T) {
	r := reader(t, texts(t, "# TYPE vllm:gpu_cache_usage_perc gauge\nvllm:gpu_cache_usage_perc{engine=\"0\"} 0.25\n",
		"# TYPE vllm:kv_cache_usage_perc gauge\nvllm:kv_cache_usage_perc{engine=\"0\"} 0.5\n", "", "\n# nothing\n"))
	for _, want := range [][2]string{{"vllm:gpu_cache_usage_perc", "0.25"}, {"vllm:kv_cache_usage_perc", "0.5"}} {
		samples := mustRead(t, r)
		if s := of(t, samples, "kv_usage"); len(samples) != 1 || s.Source != want[0] || value(s) != want[1] {
			t.Errorf("%+v of %v, want %v", s, samples, want)
		}
	}
	for range 2 {
		if samples, err := read(t, r); err == nil || err.Error() != ErrEmpty.Error() || samples != nil {
			t.Errorf("an empty page gives %v, %v", samples, err)
		}
	}
}

// Of several engines each is kept, and the canonical series is over all of them.
func TestSeveralEngines(t *testing.T) {
	got := mustRead(t, reader(t, texts(t, `vllm:num_requests_running{engine="0"} 3
vllm:num_requests_running{engine="1"} 4
vllm:num_requests_waiting{engine="0"} NaN
vllm:num_requests_waiting{engine="1"} 2
vllm:kv_cache_usage_perc{engine="0"} 0.2
vllm:kv_cache_usage_perc{engine="1"} 0.9
vllm:cache_config_info{engine="0",block_size="16",num_gpu_blocks="100"} 1
vllm:cache_config_info{engine="1",block_size="16",num_gpu_blocks="50"} 1
`)))
	want := "running\tvllm:num_requests_running\t\tuntyped\t7\n" +
		"waiting\tvllm:num_requests_waiting\t\tuntyped\t2\n" +
		"kv_usage\tvllm:kv_cache_usage_perc\t\tuntyped\t0.9\n" +
		"kv_tokens\tvllm:cache_config_info\tblock_size=16,num_gpu_blocks=50\tgauge\t2400\n"
	if text := table(got); !strings.HasPrefix(text, want) {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	if text := table(got); !strings.Contains(text, "vllm:num_requests_running\tvllm:num_requests_running\tengine=1\tuntyped\t4\n") ||
		!strings.Contains(text, "engine=0\tuntyped\tnull\n") {
		t.Errorf("an engine is missing, or a value that is none is not null:\n%s", text)
	}
}

// Where a server makes no larger batches, the share of those in its fullest bucket is
// how often it was at its cap.
func TestBatchesAtTheCap(t *testing.T) {
	got := mustRead(t, reader(t, texts(t, `# TYPE te_batch_next_size histogram
te_batch_next_size_bucket{le="1"} 2
te_batch_next_size_bucket{le="4"} 4
te_batch_next_size_bucket{le="8"} 16
te_batch_next_size_bucket{le="16"} 16
te_batch_next_size_bucket{le="+Inf"} 16
te_batch_next_size_sum 104
te_batch_next_size_count 16
`)))
	for series, want := range map[string]string{"batches": "16", "batch_inputs": "104", "batch_size_mean": "6.5", "batch_size_top_share": "0.75"} {
		if s := of(t, got, series); value(s) != want {
			t.Errorf("%s is %s, want %s", series, value(s), want)
		}
	}
	if s := of(t, got, "batch_size_top_share"); s.Labels != "le=8" {
		t.Errorf("labels %q", s.Labels)
	}
}

// A page of 100 MB is refused, whether it says how long it is or not, and takes no
// memory to speak of.
func TestHugePage(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	for name, says := range map[string]bool{"says so": true, "does not": false} {
		t.Run(name, func(t *testing.T) {
			r := reader(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if says {
					w.Header().Set("Content-Length", "100000000")
				}
				for range 1_000_000 {
					if _, err := io.WriteString(w, line); err != nil {
						return
					}
				}
			}))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := read(t, r)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), "larger than 8 MiB") {
				t.Errorf("%v", err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
				t.Errorf("it took %d MiB", took>>20)
			}
		})
	}
}

// A page that comes too slowly is given up when its time is over.
func TestSlowPage(t *testing.T) {
	r := reader(t, serve(t, func(w http.ResponseWriter, q *http.Request) {
		for q.Context().Err() == nil {
			_, _ = io.WriteString(w, "a 1\n")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := r.Read(ctx); err == nil || !strings.Contains(err.Error(), "not there after 1") || time.Since(begun) > 5*time.Second {
		t.Errorf("after %s: %v", time.Since(begun), err)
	}
}

// Whatever a page holds, it is series or an error, and its texts are bounded and valid.
func TestHostilePages(t *testing.T) {
	noise := make([]byte, 1<<20)
	rng := rand.NewChaCha8([32]byte{7})
	_, _ = rng.Read(noise)
	for name, page := range map[string]string{
		"noise": string(noise), "html": "<html><body>login</body></html>", "json": `{"status":"ok"}`, "half a line": "a{b=\"c",
		"a long line": "a{b=\"" + strings.Repeat("c", maxLine) + "\"} 1\n", "many lines": strings.Repeat("a 1\n", maxLines+1), "no value": "a\n", "zeroes": strings.Repeat("\x00", 5000),
		"a page of labels": "a{" + strings.Repeat("b=\"\",", 10_000) + "} 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			if samples, err := read(t, reader(t, texts(t, page))); err == nil || len(err.Error()) > maxSaid || !utf8.ValidString(err.Error()) {
				t.Errorf("%d samples, %v", len(samples), err)
			}
		})
	}
}

// Series over the most are counted, texts cut between whole labels, bytes that are no
// UTF-8 replaced, and what is no number is null.
func TestBounds(t *testing.T) {
	var b strings.Builder
	for i := range 3 * maxSeries / 2 {
		b.WriteString("some:series{i=\"" + strings.Repeat("7", i%5) + "\"} 1\n")
	}
	b.WriteString("vllm:num_requests_running 5\n")
	got := mustRead(t, reader(t, texts(t, b.String())))
	if s := of(t, got, "dropped_series"); len(got) != maxSeries+1 || value(s) != "1001" || value(of(t, got, "running")) != "5" {
		t.Errorf("%d samples, dropped %+v", len(got), s)
	}
	got = mustRead(t, reader(t, texts(t, "odd{a=\"\xe3\x81\",b=\""+strings.Repeat("é", 300)+"\",c=\""+strings.Repeat("z", 150)+"\"} +Inf\n")))
	s := of(t, got, "odd")
	if !utf8.ValidString(s.Labels) || len(s.Labels) > maxLabels || !strings.HasPrefix(s.Labels, "a=\uFFFD,b=éé") || strings.Contains(s.Labels, "z") || s.Value != nil {
		t.Errorf("%d bytes: %+v", len(s.Labels), s)
	}
}

// A key goes to the target's own address alone, and nothing of it comes back.
func TestHeadersAndSecrets(t *testing.T) {
	const key = "sk-very-secret-key"
	var got []string
	echo := func(w http.ResponseWriter, q *http.Request) {
		got = append(got, q.Header.Get("Authorization"))
		_, _ = io.WriteString(w, "a{key=\""+strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer ")+"\",b=\""+key+"\"} 1\n")
	}
	own, other := serve(t, echo), serve(t, echo)
	p := plan.Plan{Target: plan.Target{URL: own + "/v1/", Headers: []plan.Header{{Name: "Authorization", Sensitive: true}}}}
	secrets := plan.Secrets{Headers: map[string]plan.Secret{"Authorization": plan.NewSecret("Bearer " + key)}}
	for _, m := range []plan.Metrics{{Path: "/metrics"}, {URL: own + "/metrics"}, {URL: other + "/metrics"}} {
		p.Metrics = &m
		r, err := New(p, secrets, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if s := of(t, mustRead(t, r), "a"); strings.Contains(s.Labels, key) {
			t.Errorf("labels %q", s.Labels)
		}
	}
	if d := cmp.Diff([]string{"Bearer " + key, "Bearer " + key, ""}, got); d != "" {
		t.Error(d)
	}
	secrets.URL = new(plan.NewSecret("http://user:pass-word@127.0.0.1:1/secret-path"))
	p.Metrics = &plan.Metrics{Path: "/metrics"}
	r, err := New(p, secrets, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, r); err == nil || strings.Contains(err.Error()+r.Shown(), "secret-path") || strings.Contains(err.Error()+r.Shown(), "pass-word") {
		t.Errorf("%v at %s", err, r.Shown())
	}
}

// A redirect is not followed: it may lead a key elsewhere.
func TestRedirect(t *testing.T) {
	r := reader(t, serve(t, func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, "/elsewhere", http.StatusFound) }))
	if _, err := read(t, r); err == nil || err.Error() != "status 302" {
		t.Error(err)
	}
}

// A target without an address needs a page that has one.
func TestNoAddress(t *testing.T) {
	if _, err := New(plan.Plan{Metrics: &plan.Metrics{Path: "/metrics"}}, plan.Secrets{}, nil); err == nil {
		t.Error("no error")
	}
	if _, err := New(plan.Plan{Metrics: &plan.Metrics{URL: "http://127.0.0.1:9090/metrics"}}, plan.Secrets{}, nil); err != nil {
		t.Error(err)
	}
}

// What any bytes are read into, nothing panics.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a 1\n", "# TYPE a histogram\na_bucket{le=\"1\"} 2\na_sum 3\na_count 2\n", "a{b=\"<<<NULL>>>\"} NaN 12\n", "{\"a b\",c=\"d\"} 1\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		series, err := parse(page)
		if err == nil && len(series) == 0 || errors.Is(err, ErrEmpty) && len(series) > 0 {
			t.Errorf("%d series, %v", len(series), err)
		}
		for _, s := range samples(series) {
			if !utf8.ValidString(s.Series+s.Labels) || len(s.Labels) > maxLabels {
				t.Errorf("%+v", s)
			}
		}
	})
}

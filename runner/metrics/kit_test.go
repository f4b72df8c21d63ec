package metrics

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

var update = flag.Bool("update", false, "write the golden files")

// serve answers each request by a function.
func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

// texts answers each request with the next of a list, and the last for ever.
func texts(t *testing.T, pages ...string) string {
	t.Helper()
	n := 0
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, pages[min(n, len(pages)-1)])
		n++
	})
}

// reader reads the page at a target's /metrics.
func reader(t *testing.T, url string) *Reader {
	t.Helper()
	r, err := New(plan.Plan{Target: plan.Target{URL: url}, Metrics: &plan.Metrics{Path: "/metrics"}}, plan.Secrets{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// read reads once, within ten seconds.
func read(t *testing.T, r *Reader) ([]record.ServerSample, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	return r.Read(ctx)
}

func mustRead(t *testing.T, r *Reader) []record.ServerSample {
	t.Helper()
	s, err := read(t, r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// of gives the one sample of a series.
func of(t *testing.T, samples []record.ServerSample, series string) record.ServerSample {
	t.Helper()
	var found []record.ServerSample
	for _, s := range samples {
		if s.Series == series {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d samples of %s: %v", len(found), series, found)
	}
	return found[0]
}

// value is the text of a sample's value.
func value(s record.ServerSample) string {
	if s.Value == nil {
		return "null"
	}
	return fmt.Sprint(*s.Value)
}

// table is samples as text, a line each.
func table(samples []record.ServerSample) string {
	var b strings.Builder
	for _, s := range samples {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\n", s.Series, s.Source, s.Labels, s.Kind, value(s))
	}
	return b.String()
}

func file(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

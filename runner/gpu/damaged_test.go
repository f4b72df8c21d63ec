//go:build cgo && linux

package gpu

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rung/sinks/record"
)

// scripted is a child that says what it was given, and then listens to nothing.
func scripted(t *testing.T, frames []byte) (*Child, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "frames")
	if err := os.WriteFile(path, frames, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := OpenChild([]string{"/bin/sh", "-c", `cat "$0"; cat >/dev/null`, path}, 300*time.Millisecond)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

func greeting() []byte {
	return appendFrame(nil, hello, []byte(`{"devices":[{"index":0,"uuid":"GPU-a"}]}`))
}

func readingOf(device int, at int64) []byte {
	return appendTaken(nil, &taken{at: at, forced: true, samples: []record.Sample{{Device: device}}})
}

// A child that says something else than a sampler is not believed, and ended.
func TestChildTalksNonsense(t *testing.T) {
	soon := monotonic()
	for name, tt := range map[string]struct {
		frames []byte
		words  string
	}{
		"an unknown kind":      {[]byte("hello world"), "none of rung's"},
		"an endless frame":     {[]byte{byte(pending), 255, 255, 255, 255}, "none of rung's"},
		"another greeting":     {greeting(), "begins anew"},
		"damaged readings":     {appendFrame(nil, pending, []byte("nonsense")), "damaged"},
		"another device":       {appendFrame(nil, pending, readingOf(3, soon)), "device 3, which it has not"},
		"the future":           {appendFrame(nil, pending, readingOf(0, soon+int64(time.Hour))), "a time that is not now"},
		"the past":             {appendFrame(nil, pending, readingOf(0, soon-int64(time.Hour))), "a time that is not now"},
		"a reason without end": {appendFrame(nil, failed, []byte("the card is lost")), "the card is lost"},
		"nothing":              {nil, "did not answer within 300ms"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := scripted(t, slices.Concat(greeting(), tt.frames))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // it stays so
				if s, err := c.Sample(); err == nil || !strings.Contains(err.Error(), tt.words) {
					t.Errorf("%v, %v", s, err)
				}
			}
			if err := c.Start(time.Second, nil, nil); err == nil {
				t.Error("a schedule began")
			}
		})
	}
}

// An answer that nobody waits for would be taken for that to the next ask.
func TestChildAnswersUnasked(t *testing.T) {
	c, err := scripted(t, slices.Concat(greeting(), appendFrame(nil, answer, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := <-c.answers; ok || !strings.Contains(c.ended.Error(), "not asked") {
		t.Errorf("%v, %v", s, c.ended)
	}
}

func TestChildGreetsWrongly(t *testing.T) {
	for name, frames := range map[string][]byte{
		"no frame": []byte("cards: 1"),
		"no JSON":  appendFrame(nil, hello, []byte("cards: 1")),
		"readings": appendFrame(nil, pending, nil),
	} {
		if _, err := scripted(t, frames); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

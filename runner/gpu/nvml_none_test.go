//go:build !cgo || !linux

package gpu

import (
	"errors"
	"strings"
	"testing"
)

// A binary without NVML says so, and names what there is instead.
func TestWithoutNVML(t *testing.T) {
	_, err := OpenNVML(Options{})
	if !errors.Is(err, ErrUnavailable) {
		t.Fatalf("%v", err)
	}
	for _, word := range []string{"without cgo", "nvidia-smi", "dcgm", "file", "none"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in: %v", word, err)
		}
	}
}

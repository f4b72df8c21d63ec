//go:build gpu && cgo && linux

package gpu

import (
	"encoding/json"
	"testing"
	"time"
)

// TestRealCard reads a real card: run it on a GPU host by make gpu. It prints each
// device, what it does not support, and how long a reading takes.
func TestRealCard(t *testing.T) {
	n, err := OpenNVML(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	devices, err := json.MarshalIndent(n.Devices(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("devices: %s", devices)
	const readings = 50
	begin := time.Now()
	for range readings {
		samples, err := n.Sample()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range samples {
			if s.MemTotalBytes == nil || s.MemUsedBytes == nil || *s.MemUsedBytes > *s.MemTotalBytes {
				t.Fatalf("memory of %s: used %v of %v", s.UUID, s.MemUsedBytes, s.MemTotalBytes)
			}
		}
	}
	t.Logf("one reading of all devices takes %s", time.Since(begin)/readings)
	samples, err := n.Sample()
	if err != nil {
		t.Fatal(err)
	}
	shown, err := json.MarshalIndent(samples, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("samples: %s", shown)
}

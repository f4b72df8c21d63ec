//go:build cgo && linux

package gpu_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rung/runner/gpu"
	"rung/runner/gpu/gputest"
	"rung/sinks/record"
)

const (
	cardA = `device 0 uuid GPU-a name "Fake A" total 85899345920 used 1000 reserved 500 util 50 memutil 7 power 250500 limit 300000 temp 60 sm 1980 mem 2619 energy 5500 throttle 4 mig 0 ecc 1 pid 41 pid2 42`
	cardB = `device 1 uuid GPU-b name "Fake B" total 25769803776 used 7 reserved 0 util 0 power 0 temp 0`
)

func open(t *testing.T, o gpu.Options) *gpu.NVML {
	t.Helper()
	n, err := gpu.OpenNVML(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func sample(t *testing.T, n *gpu.NVML) []record.Sample {
	t.Helper()
	s, err := n.Sample()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every value comes in the unit of its column, read again each time.
func TestReadings(t *testing.T) {
	if !gputest.Isolate(t) {
		return
	}
	state := gputest.NewState(t)
	state.Write(cardA)
	n := open(t, gpu.Options{Library: gputest.Compile(t)})
	wantDevice := record.Device{Index: 0, UUID: "GPU-a", Name: "Fake A", Driver: "fake-1.0", MemTotalBytes: new(int64(85899345920)),
		PowerLimitW: new(300.0), MIG: new(false), ECC: new(true)}
	if d := cmp.Diff([]record.Device{wantDevice}, n.Devices()); d != "" {
		t.Error(d)
	}
	want := record.Sample{Device: 0, UUID: "GPU-a", Name: "Fake A", MemCall: "v2",
		MemTotalBytes: new(int64(85899345920)), MemUsedBytes: new(int64(1000)), MemFreeBytes: new(int64(85899344420)), MemReservedBytes: new(int64(500)),
		UtilGPUPct: new(50.0), UtilMemPct: new(7.0), PowerW: new(250.5), TemperatureC: new(60.0), SMClockMHz: new(1980.0), MemClockMHz: new(2619.0),
		EnergyJ: new(5.5), ThrottleReasons: new(int64(4)), Processes: []int64{41, 42}}
	if d := cmp.Diff([]record.Sample{want}, sample(t, n)); d != "" {
		t.Error(d)
	}
	state.Write(strings.Replace(cardA, "used 1000", "used 2000", 1))
	if got := *sample(t, n)[0].MemUsedBytes; got != 2000 {
		t.Errorf("used %d after the state changed, want 2000", got)
	}
	if n.Source() != "nvml" {
		t.Error(n.Source())
	}
}

// A field that the card lacks is nil and named; zero is a value.
func TestUnsupportedIsNil(t *testing.T) {
	if !gputest.Isolate(t) {
		return
	}
	state := gputest.NewState(t)
	state.Write(cardB, "device 0 uuid GPU-a name A total 100 used 0", "lacks util", "lacks power", "lacks energy", "lacks mig", "lacks ecc", "lacks limit")
	n := open(t, gpu.Options{Library: gputest.Compile(t), Devices: []string{"GPU-b"}})
	d := n.Devices()[0]
	if diff := cmp.Diff([]string{"energy_j", "power_w", "util_gpu_pct", "util_mem_pct"}, d.Unsupported); diff != "" {
		t.Error(diff)
	}
	if d.MIG != nil || d.ECC != nil || d.PowerLimitW != nil {
		t.Errorf("modes and limits that the card lacks: %+v", d)
	}
	s := sample(t, n)[0]
	if s.UtilGPUPct != nil || s.UtilMemPct != nil || s.PowerW != nil || s.EnergyJ != nil {
		t.Errorf("a lacking field has a value: %+v", s)
	}
	if s.TemperatureC == nil || *s.TemperatureC != 0 || s.SMClockMHz == nil {
		t.Errorf("a zero that the card gave is missing: %+v", s)
	}
}

// What a card can't tell once is not unsupported.
func TestTransientFailure(t *testing.T) {
	if !gputest.Isolate(t) {
		return
	}
	state := gputest.NewState(t)
	state.Write(cardA, "fail temp 999")
	n := open(t, gpu.Options{Library: gputest.Compile(t)})
	if s := sample(t, n)[0]; s.TemperatureC != nil || s.PowerW == nil {
		t.Errorf("%+v", s)
	}
	state.Write(cardA)
	if s := sample(t, n)[0]; s.TemperatureC == nil || *s.TemperatureC != 60 || len(n.Devices()[0].Unsupported) > 0 {
		t.Errorf("it did not come back: %+v", s)
	}
}

// Without the newer call for memory the older one is taken, and recorded as such:
// it counts what the driver reserves as used.
func TestOlderMemoryCall(t *testing.T) {
	if !gputest.Isolate(t) {
		return
	}
	gputest.NewState(t).Write(cardA)
	n := open(t, gpu.Options{Library: gputest.Compile(t, "-DNO_MEMORY_V2")})
	s := sample(t, n)[0]
	if s.MemCall != "v1" || *s.MemUsedBytes != 1500 || s.MemReservedBytes != nil {
		t.Errorf("call %q, used %d, reserved %v", s.MemCall, *s.MemUsedBytes, s.MemReservedBytes)
	}
	if diff := cmp.Diff([]string{"mem_reserved_bytes"}, n.Devices()[0].Unsupported); diff != "" {
		t.Error(diff)
	}
}

// A function that the driver lacks would end the process if it were called.
func TestAbsentSymbols(t *testing.T) {
	if !gputest.Isolate(t) {
		return
	}
	gputest.NewState(t).Write(cardA)
	n := open(t, gpu.Options{Library: gputest.Compile(t, "-DNO_MEMORY_V2", "-DNO_MEMORY_V1", "-DNO_ENERGY", "-DNO_UTIL", "-DNO_ERROR_STRING")})
	want := []string{"energy_j", "mem_free_bytes", "mem_reserved_bytes", "mem_total_bytes", "mem_used_bytes", "util_gpu_pct", "util_mem_pct"}
	if diff := cmp.Diff(want, n.Devices()[0].Unsupported); diff != "" {
		t.Error(diff)
	}
	if s := sample(t, n)[0]; s.MemUsedBytes != nil || s.MemCall != "" || s.EnergyJ != nil || s.PowerW == nil {
		t.Errorf("%+v", s)
	}
}

func TestErrorWithoutErrorString(t *testing.T) {
	if !gputest.Isolate(t) {
		return
	}
	gputest.NewState(t).Write("fail init 17")
	_, err := gpu.OpenNVML(gpu.Options{Library: gputest.Compile(t, "-DNO_ERROR_STRING")})
	if !errors.Is(err, gpu.ErrUnavailable) || !strings.Contains(err.Error(), "NVML code 17") {
		t.Error(err)
	}
}

// A library without what is called first is refused, not run.
func TestForeignLibrary(t *testing.T) {
	for flag, want := range map[string]string{"-DNO_INIT": "no nvmlInit", "-DNO_HANDLE": "no nvmlDeviceGetHandleByIndex"} {
		t.Run(flag, func(t *testing.T) {
			if !gputest.Isolate(t) {
				return
			}
			gputest.NewState(t).Write(cardA)
			_, err := gpu.OpenNVML(gpu.Options{Library: gputest.Compile(t, flag)})
			if !errors.Is(err, gpu.ErrUnavailable) || !strings.Contains(err.Error(), want) {
				t.Error(err)
			}
		})
	}
}

// Cards are chosen by UUID or index, whatever their order; samples keep the
// driver's.
func TestSelection(t *testing.T) {
	if !gputest.Isolate(t) {
		return
	}
	state, library := gputest.NewState(t), gputest.Compile(t)
	state.Write(strings.Replace(cardA, "device 0", "device 1", 1), strings.Replace(cardB, "device 1", "device 0", 1))
	for _, tt := range []struct {
		devices []string
		want    []string
	}{
		{nil, []string{"GPU-b", "GPU-a"}},
		{[]string{"GPU-a"}, []string{"GPU-a"}},
		{[]string{"0"}, []string{"GPU-b"}},
		{[]string{"GPU-a", "0"}, []string{"GPU-b", "GPU-a"}},
	} {
		n, err := gpu.OpenNVML(gpu.Options{Library: library, Devices: tt.devices})
		if err != nil {
			t.Fatal(tt.devices, err)
		}
		var got []string
		for _, s := range sample(t, n) {
			got = append(got, s.UUID)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v: %s", tt.devices, diff)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err := gpu.OpenNVML(gpu.Options{Library: library, Devices: []string{"GPU-a", "GPU-z", "7"}})
	if err == nil || errors.Is(err, gpu.ErrUnavailable) || !strings.Contains(err.Error(), "no device GPU-z, 7") || !strings.Contains(err.Error(), "1 = GPU-a") {
		t.Errorf("unknown devices: %v", err)
	}
}

// A card that fell off the bus hides no other, and is never left out silently.
func TestBrokenDevice(t *testing.T) {
	if !gputest.Isolate(t) {
		return
	}
	state, library := gputest.NewState(t), gputest.Compile(t)
	state.Write(cardA, cardB, "fail device1 15")
	n := open(t, gpu.Options{Library: library, Devices: []string{"GPU-a"}})
	if got := sample(t, n); len(got) != 1 || got[0].UUID != "GPU-a" {
		t.Errorf("%+v", got)
	}
	if _, err := gpu.OpenNVML(gpu.Options{Library: library}); err == nil || !strings.Contains(err.Error(), "device 1 can't be opened: fake error 15") {
		t.Errorf("all devices wanted: %v", err)
	}
}

// A GPU that is lost while it is sampled is an error, not a row of nothing.
func TestLostGPU(t *testing.T) {
	if !gputest.Isolate(t) {
		return
	}
	state := gputest.NewState(t)
	state.Write(cardA)
	n := open(t, gpu.Options{Library: gputest.Compile(t)})
	sample(t, n)
	state.Write(cardA, "fail device0 15")
	if s, err := n.Sample(); err == nil || !strings.Contains(err.Error(), "GPU-a") || !strings.Contains(err.Error(), "fake error 15") {
		t.Errorf("%v, %v", s, err)
	}
}

// Without NVML the error names the ways out.
func TestUnavailable(t *testing.T) {
	if !gputest.Isolate(t) {
		return
	}
	state, library := gputest.NewState(t), gputest.Compile(t)
	for _, tt := range []struct{ name, library, state, want string }{
		{"no library", filepath.Join(t.TempDir(), "libnvidia-ml.so.1"), "", "libnvidia-ml.so.1 was not found"},
		{"no driver", library, "fail init 9", "driver is not loaded"},
		{"init fails", library, "fail init 18", "fake error 18"},
		{"no device", library, "", "no device"},
		{"no count", library, "fail count 4", "can't be counted: fake error 4"},
	} {
		state.Write(tt.state)
		n, err := gpu.OpenNVML(gpu.Options{Library: tt.library})
		if n != nil || !errors.Is(err, gpu.ErrUnavailable) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for _, other := range []string{"nvidia-smi", "dcgm", "file", "none"} {
			if !strings.Contains(err.Error(), other) {
				t.Errorf("%s: the error does not name %s: %v", tt.name, other, err)
			}
		}
	}
}

// Cards are known by their UUID, whatever order CUDA has them in; without a list of
// processes what is told is the card's; and which call gave the memory is told too.
func TestCase66(t *testing.T) {
	for name, tt := range map[string]struct {
		flags []string
		call  string
		used  int64
	}{
		"v2": {nil, "v2", 1000},
		"v1": {[]string{"-DNO_MEMORY_V2"}, "v1", 1500}, // it counts what the driver reserves
	} {
		t.Run(name, func(t *testing.T) {
			if !gputest.Isolate(t) {
				return
			}
			gputest.NewState(t).Write(`device 0 uuid GPU-small name "Small" total 1000 used 1`,
				`device 1 uuid GPU-large name "Large" total 85899345920 used 1000 reserved 500`)
			n := open(t, gpu.Options{Library: gputest.Compile(t, tt.flags...), Devices: []string{"GPU-large"}})
			s := sample(t, n)
			if len(s) != 1 || s[0].Device != 1 || s[0].Name != "Large" || s[0].MemCall != tt.call || *s[0].MemUsedBytes != tt.used || len(s[0].Processes) != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// What the driver sampled by itself comes once, in order: not what it had before it was
// first asked, and nothing where it has nothing new.
func TestUtilisationSamples(t *testing.T) {
	if !gputest.Isolate(t) {
		return
	}
	state := gputest.NewState(t)
	with := func(samples string) { state.Write(cardA+` samples "`+samples+`"`, cardB) }
	with("1000:10 2000:20")
	n := open(t, gpu.Options{Library: gputest.Compile(t)})
	if s := sample(t, n); s[0].UtilSamplesPct != nil {
		t.Errorf("%v from before the first reading", s[0].UtilSamplesPct)
	}
	with("2000:20 3000:0 4000:90")
	if s := sample(t, n); !cmp.Equal(s[0].UtilSamplesPct, []float64{0, 90}) || s[1].UtilSamplesPct != nil {
		t.Errorf("%v and %v", s[0].UtilSamplesPct, s[1].UtilSamplesPct)
	}
	if s := sample(t, n); s[0].UtilSamplesPct != nil {
		t.Errorf("%v twice", s[0].UtilSamplesPct)
	}
	state.Write("lacks samples", cardA)
	if s := sample(t, n); s[0].UtilSamplesPct != nil || s[0].UtilGPUPct == nil {
		t.Errorf("%+v", s[0])
	}
}

package smi_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rung/runner/gpu/smi"
	"rung/sinks/record"
)

const gib = int64(1) << 30

func read(t testing.TB, text string, o smi.Options) (*smi.Parser, []record.Sample, error) {
	t.Helper()
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	p := smi.NewParser(o)
	var out []record.Sample
	err := smi.Read(strings.NewReader(text), p, func(s record.Sample) error { out = append(out, s); return nil })
	return p, out, err
}

func must(t testing.TB, text string, o smi.Options) (*smi.Parser, []record.Sample) {
	t.Helper()
	p, rows, err := read(t, text, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p, rows
}

const header = "timestamp, index, uuid, name, memory.total [MiB], memory.used [MiB], utilization.gpu [%], power.draw [W], temperature.gpu, clocks.current.sm [MHz]\n"

// What the tool does not know is null with its reason, units are those of the cell or
// of the header, and noise takes no row with it.
func TestCase60(t *testing.T) {
	text := "NVIDIA-SMI \xe3\xe3 was hei\xdft das\n" + header +
		"2026/11/30 13:05:01.123, 0, GPU-a, NVIDIA H200, 1024 MiB, 0 MiB, 5 %, 75.50 W, 40, 1980 MHz\n\n" +
		"2026/11/30 13:05:01.323, 0, GPU-a, NVIDIA H200, 1024, 512, 5, [Not Supported], 40, [N/A]\n" +
		header + "\xe3\x81 noise between\n" +
		"2026/11/30 13:05:01.523, 0, GPU-a, NVIDIA \xe3, 1 GiB, [Unknown Error], , N/A, ERR!, [N/A]\n" +
		"2026/11/30 13:05:01.723, 0, GPU-a, NVIDIA H200, 1024 MiB, 51"
	p, rows := must(t, text, smi.Options{})
	at := time.Date(2026, 11, 30, 13, 5, 1, 123e6, time.UTC)
	want := []record.Sample{
		{Time: at, UUID: "GPU-a", Name: "NVIDIA H200", MemCall: smi.MemCall, MemTotalBytes: new(gib), MemUsedBytes: new(int64(0)), UtilGPUPct: new(5.0), PowerW: new(75.5), TemperatureC: new(40.0), SMClockMHz: new(1980.0)},
		{Time: at.Add(200 * time.Millisecond), UUID: "GPU-a", Name: "NVIDIA H200", MemCall: smi.MemCall, MemTotalBytes: new(gib), MemUsedBytes: new(gib / 2), UtilGPUPct: new(5.0), TemperatureC: new(40.0)},
		{Time: at.Add(400 * time.Millisecond), UUID: "GPU-a", Name: "NVIDIA H200", MemCall: smi.MemCall, MemTotalBytes: new(gib)},
		{Time: at.Add(600 * time.Millisecond), UUID: "GPU-a", Name: "NVIDIA H200", MemCall: smi.MemCall, MemTotalBytes: new(gib)},
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Error(d)
	}
	if p.Skipped != 2 || p.Cut != 1 || !strings.HasPrefix(p.Noise, "NVIDIA-SMI \uFFFD was") {
		t.Errorf("skipped %d, cut %d, noise %q", p.Skipped, p.Cut, p.Noise)
	}
	reasons := strings.Join(p.Reasons(), "\n")
	for _, w := range []string{"power_w: [Not Supported]", "mem_used_bytes: [Unknown Error]", "util_gpu_pct: empty", "sm_clock_mhz: [N/A]", "temperature_c: ERR!"} {
		if !strings.Contains(reasons, w) {
			t.Errorf("no %q in\n%s", w, reasons)
		}
	}
	_, rows = must(t, "timestamp, memory.used [MiB], power.draw [W], clocks.sm\n1795000000, 7, [N/A], [N/A]\n1795000001, 8, 1, [Unknown Error]\n", smi.Options{})
	p, _ = must(t, "timestamp, memory.used [MiB], power.draw [W], clocks.sm\n1795000000, 7, [N/A], [N/A]\n1795000001, 8, 1, [Unknown Error]\n", smi.Options{})
	if d := cmp.Diff([]string{"sm_clock_mhz"}, p.Devices()[0].Unsupported); d != "" || *rows[0].MemUsedBytes != 7<<20 {
		t.Error(d, rows)
	}
}

func TestTimes(t *testing.T) {
	want := time.Date(2026, 11, 30, 13, 5, 1, 0, time.UTC)
	east := time.FixedZone("east", 8*3600)
	for text, zone := range map[string]*time.Location{
		"2026/11/30 13:05:01.000": nil, "2026-11-30T13:05:01Z": east, "2026-11-30T21:05:01+08:00": nil, "2026-11-30 21:05:01+0800": nil,
		"2026/11/30 21:05:01.000": east, "1796043901": east, "1796043901000": east, "1796043901.0": east, "1796043901000000": east, "2026-11-30 13:05:01 UTC": east,
	} {
		_, rows, err := read(t, "timestamp, memory.used [MiB]\n"+text+", 1\n", smi.Options{Zone: zone})
		if err != nil || !rows[0].Time.Equal(want) {
			t.Errorf("%s: %v, %v", text, rows, err)
		}
	}
	for _, text := range []string{"13:05:01", "2026/13/45 00:00:00", "0", "-1", "", "[N/A]", "99999999999999999999", "0001-01-01T00:00:00Z"} {
		if _, rows, err := read(t, "timestamp, memory.used [MiB]\n"+text+", 1\n", smi.Options{}); !errors.Is(err, smi.ErrNoRow) {
			t.Errorf("%s: %v, %v", text, rows, err)
		}
	}
}

func TestColumns(t *testing.T) {
	_, rows := must(t, "memory.used [GiB], uuid, timestamp, fan.speed [%]\n1, GPU-a, 1795000000, 3 %\n", smi.Options{})
	if *rows[0].MemUsedBytes != gib || rows[0].UUID != "GPU-a" {
		t.Errorf("%+v", rows)
	}
	bare := "2026/11/30 13:05:01.123, 3, 100, 50\n"
	if _, _, err := read(t, bare, smi.Options{}); !errors.Is(err, smi.ErrNoHeader) {
		t.Error(err)
	}
	_, rows = must(t, bare, smi.Options{Columns: []string{"timestamp", "index", "memory.used", "utilization.gpu"}})
	if *rows[0].MemUsedBytes != 100<<20 || rows[0].Device != 3 || *rows[0].UtilGPUPct != 50 {
		t.Errorf("%+v", rows)
	}
	for _, text := range []string{"index, memory.used [MiB]\n0, 1 MiB\n", "0, 1 MiB\n0, 2 MiB\n", "# gpu   pwr gtemp\n# Idx     W     C\n    0    75    41\n", "#Time gpu pwr\n#HH:MM:SS Idx W\n13:05:01 0 75\n"} {
		if _, _, err := read(t, text, smi.Options{}); !errors.Is(err, smi.ErrNoTime) || !strings.Contains(err.Error(), "--query-gpu=timestamp,") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, _, err := read(t, "", smi.Options{}); !errors.Is(err, smi.ErrNoRow) {
		t.Error(err)
	}
}

func TestDmon(t *testing.T) {
	text := "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk     fb\n" +
		"#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %    MHz    MHz     MB\n" +
		" 20261130   13:05:01      0     75     41      -     50      7   2619   1980   1024\n" +
		" 20261130   13:05:01      1     80     42      -      -      7   2619   1980   2048\n" +
		"#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk     fb\n" +
		"#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %    MHz    MHz     MB\n" +
		" 20261130   13:05:02      0     76     41      -     51      7   2619   1980   1024\n"
	p, rows := must(t, text, smi.Options{})
	if len(rows) != 3 || *rows[0].MemUsedBytes != gib || *rows[0].UtilGPUPct != 50 || rows[1].UtilGPUPct != nil || rows[1].Device != 1 || *rows[2].PowerW != 76 {
		t.Errorf("%+v", rows)
	}
	if len(p.Devices()) != 2 || p.Skipped != 0 {
		t.Errorf("%+v, %d", p.Devices(), p.Skipped)
	}
}

// Cards are chosen by index, UUID or bus id, whatever order the tool has them in.
func TestDevices(t *testing.T) {
	text := "timestamp, index, uuid, pci.bus_id, memory.used [MiB]\n" +
		"1795000000, 1, GPU-b, 00000000:02:00.0, 2\n1795000000, 0, GPU-a, 00000000:01:00.0, 1\n"
	for device, want := range map[string]string{"GPU-a": "GPU-a", "1": "GPU-b", "0000:01:00.0": "GPU-a", "00000000:02:00.0": "GPU-b"} {
		p, rows := must(t, text, smi.Options{Devices: []string{device}})
		if len(rows) != 1 || rows[0].UUID != want || len(p.Devices()) != 1 {
			t.Errorf("%s: %+v", device, rows)
		}
	}
	if _, _, err := read(t, text, smi.Options{Devices: []string{"GPU-z"}}); err == nil || !strings.Contains(err.Error(), "no device GPU-z in it, which has 1 GPU-b, 0 GPU-a") {
		t.Error(err)
	}
}

// A card that is gone is told; other rows stay.
func TestLost(t *testing.T) {
	text := header + "2026/11/30 13:05:01.123, 0, GPU-a, A, 1 MiB, 1 MiB, 1 %, 1 W, 1, 1 MHz\n" +
		"Unable to determine the device handle for GPU 0000:01:00.0: Unknown Error\n" +
		"2026/11/30 13:05:02.123, 0, GPU-a, A, 1 MiB, 1 MiB, 1 %, 1 W, 1, 1 MHz\n"
	p, rows := must(t, text, smi.Options{})
	if len(rows) != 2 || !strings.Contains(p.Lost, "0000:01:00.0") || p.Skipped != 0 {
		t.Errorf("%d rows, %q", len(rows), p.Lost)
	}
	_, rows, err := read(t, text, smi.Options{EndsAtLoss: true})
	if len(rows) != 1 || err == nil || !strings.Contains(err.Error(), "Unable to determine") {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func TestLongLine(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	p, rows := must(t, "timestamp, memory.used [MiB]\n"+long+"\n1795000000, 1\n"+long, smi.Options{})
	if len(rows) != 1 || p.Skipped != 2 {
		t.Errorf("%d rows, %d skipped", len(rows), p.Skipped)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(header + "2026/11/30 13:05:01.123, 0, GPU-a, A, 1 MiB, [N/A], 1 %, 1 W, 1, 1 MHz\n")
	f.Add("#Date Time gpu pwr\n 20261130 13:05:01 0 75\n")
	f.Add("timestamp\xe3, index\n\"1795000000\", 0\n")
	f.Add("timestamp, clocks_throttle_reasons.active\n1795000000, 0x0000000000000004\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, rows, _ := read(t, text, smi.Options{})
		if len(rows) > strings.Count(text, "\n")+1 {
			t.Errorf("%d rows", len(rows))
		}
		for _, s := range rows {
			if !utf8.ValidString(s.Name) || !utf8.ValidString(s.UUID) || s.Time.IsZero() || s.MemUsedBytes != nil && *s.MemUsedBytes < 0 {
				t.Errorf("%+v", s)
			}
		}
		if !utf8.ValidString(p.Noise + p.Lost) {
			t.Error(p.Noise, p.Lost)
		}
	})
}

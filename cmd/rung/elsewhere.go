package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rung/results"
	"rung/runner/gpu/smi"
	"rung/sinks/parquet"
	"rung/sinks/record"
)

// mostForeign bounds the samples of a file that are kept: about a gigabyte of memory.
const mostForeign = 2 << 20

// foreignSamples are samples that were recorded without rung run.
type foreignSamples struct {
	samples []record.Sample
	devices []record.Device
	sha256  string
	notes   []string
}

// readForeign reads CSV of nvidia-smi's, one part of rung sample's, or a folder of
// such. It keeps the samples of the devices that are named.
func readForeign(path string, columns, devices []string) (foreignSamples, error) {
	info, err := os.Stat(path)
	if err != nil {
		return foreignSamples{}, err
	}
	if info.IsDir() {
		return readSampled(path, devices)
	}
	f, err := os.Open(path) //nolint:gosec // the file that the user names
	if err != nil {
		return foreignSamples{}, err
	}
	defer f.Close() //nolint:errcheck // only read from
	head := make([]byte, 4)
	n, _ := io.ReadFull(f, head) // a shorter file is no Parquet
	if parquet.IsParquet(head[:n]) {
		samples, sum, err := parquet.ReadSampleFile(path)
		if err != nil {
			return foreignSamples{}, err
		}
		return chosen(foreignSamples{samples: samples, sha256: sum, devices: devicesOf(samples)}, path, devices)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return foreignSamples{}, err
	}
	return readCSV(f, path, columns, devices)
}

func readCSV(f io.Reader, path string, columns, devices []string) (out foreignSamples, err error) {
	sum := sha256.New()
	p := smi.NewParser(smi.Options{Columns: columns, Devices: devices})
	err = smi.Read(io.TeeReader(f, sum), p, func(s record.Sample) error {
		if len(out.samples) == mostForeign {
			return fmt.Errorf("it has more than %d samples; cut it to the hours of the run", mostForeign)
		}
		out.samples = append(out.samples, s)
		return nil
	})
	if err != nil {
		return out, fmt.Errorf("%s: %w", path, err)
	}
	out.devices, out.sha256, out.notes = p.Devices(), hex.EncodeToString(sum.Sum(nil)), p.Reasons()
	if p.Skipped > 0 {
		out.notes = append(out.notes, fmt.Sprintf("%d lines are no samples; the first: %s", p.Skipped, p.Noise))
	}
	if p.Cut > 0 {
		out.notes = append(out.notes, fmt.Sprintf("%d rows end too early", p.Cut))
	}
	if p.Lost != "" {
		out.notes = append(out.notes, p.Lost)
	}
	return out, nil
}

// readSampled reads what rung sample wrote: one recording or all in a folder.
func readSampled(path string, devices []string) (out foreignSamples, err error) {
	dirs, err := results.Find(path)
	if err != nil { // or the folder that rung sample was given
		dirs, err = results.Find(filepath.Join(path, sampleName))
	}
	if err != nil {
		return out, fmt.Errorf("%s holds nothing that rung sample recorded: %w", path, err)
	}
	sum := sha256.New()
	for _, dir := range dirs {
		m, err := parquet.ReadManifest(dir)
		if err != nil {
			return out, err
		}
		samples, err := parquet.ReadSamples(dir, m)
		if err != nil {
			return out, err
		}
		for _, p := range m.Parts {
			_, _ = io.WriteString(sum, p.SHA256) // a hash takes everything
		}
		if len(out.samples)+len(samples) > mostForeign {
			return out, fmt.Errorf("%s has more than %d samples; name the recordings or parts of the hours of the run", path, mostForeign)
		}
		out.samples = append(out.samples, samples...)
		for _, d := range m.GPUs {
			if !slices.ContainsFunc(out.devices, func(o record.Device) bool { return o.UUID == d.UUID }) {
				out.devices = append(out.devices, d)
			}
		}
	}
	out.sha256 = hex.EncodeToString(sum.Sum(nil))
	return chosen(out, path, devices)
}

// devicesOf is what samples say of their devices.
func devicesOf(samples []record.Sample) []record.Device {
	var out []record.Device
	seen := map[string]bool{}
	for _, s := range samples {
		if !seen[s.UUID] {
			seen[s.UUID] = true
			out = append(out, record.Device{Index: s.Device, UUID: s.UUID, Name: s.Name, MemTotalBytes: s.MemTotalBytes})
		}
	}
	return out
}

// chosen keeps the devices that are named by UUID or index; all where none is.
func chosen(in foreignSamples, path string, devices []string) (foreignSamples, error) {
	named := func(index int, uuid string) bool {
		return len(devices) == 0 || slices.Contains(devices, uuid) || slices.Contains(devices, strconv.Itoa(index))
	}
	in.samples = slices.DeleteFunc(in.samples, func(s record.Sample) bool { return !named(s.Device, s.UUID) })
	in.devices = slices.DeleteFunc(in.devices, func(d record.Device) bool { return !named(d.Index, d.UUID) })
	switch {
	case len(in.samples) > 0:
		return in, nil
	case len(devices) > 0:
		return in, fmt.Errorf("%s has no sample of device %s", path, strings.Join(devices, ", "))
	default:
		return in, fmt.Errorf("%s: %w", path, errors.New("there is no sample in it"))
	}
}

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"rung/runner/gpu"
	"rung/sinks/record"
)

const (
	probeTime = 3 * time.Second
	probeStep = 10 * time.Millisecond // between two readings

	probeReadings = 20 // whose time is taken
)

// probe prints what each card tells and how often it changes.
func (a *app) probe(ctx context.Context, f sampleFlags) error {
	cards, err := gpu.OpenChild(samplerArgs(a.self, f.devices), samplerPatience)
	if err != nil {
		return failed(err)
	}
	defer cards.Close() //nolint:errcheck // it was only asked
	length := probeTime
	if f.most > 0 {
		length = f.most
	}
	timed, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	seen := make([][]record.Sample, len(cards.Devices()))
	begin := time.Now()
	err = watch(timed, cards, probeStep, func(samples []record.Sample, _ int) error {
		for i, s := range samples {
			seen[i] = append(seen[i], s)
		}
		return nil
	})
	if err != nil {
		return failed(err)
	}
	took := time.Since(begin)
	for i, d := range cards.Devices() {
		if err := printCard(a.stdout, d, seen[i], took); err != nil {
			return failed(err)
		}
	}
	reading, err := readingTime(cards)
	if err != nil {
		return failed(err)
	}
	_, err = fmt.Fprintf(a.stdout, "one reading of all devices takes %s; %d readings in %s\n", reading, len(seen[0]), took.Round(100*time.Millisecond))
	return failed(err)
}

// readingTime is how long one reading of all devices takes, on average.
func readingTime(cards *gpu.Child) (time.Duration, error) {
	begin := time.Now()
	for range probeReadings {
		if _, err := cards.Sample(); err != nil {
			return 0, err
		}
	}
	return (time.Since(begin) / probeReadings).Round(10 * time.Microsecond), nil
}

func printCard(to io.Writer, d record.Device, seen []record.Sample, took time.Duration) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	call := ""
	if len(seen) > 0 {
		call = seen[0].MemCall
	}
	fmt.Fprintf(w, "device %d, %s, %s, driver %s, memory by the call %s\n", d.Index, d.Name, d.UUID, d.Driver, call) //nolint:errcheck // Flush tells
	fmt.Fprintln(w, "field\tvalue\tunit\tsupported\tchanges a second")                                               //nolint:errcheck // Flush tells
	for _, g := range gpu.Gauges() {
		value, known, changes := changesOf(g, seen)
		supported, shown, rate := "yes", strconv.FormatFloat(value, 'f', -1, 64), fmt.Sprintf("%.1f", float64(changes)/took.Seconds())
		if !known {
			shown, rate = "-", "-"
		}
		if slices.Contains(d.Unsupported, g.Column) {
			supported, shown, rate = "no", "-", "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", g.Column, shown, g.Unit, supported, rate) //nolint:errcheck // Flush tells
	}
	fmt.Fprintln(w) //nolint:errcheck // Flush tells
	return w.Flush()
}

// changesOf is a gauge's last value, and how often it was another than before.
func changesOf(g gpu.Gauge, seen []record.Sample) (value float64, known bool, changes int) {
	for i := range seen {
		v, ok := g.Of(&seen[i])
		if !ok {
			continue
		}
		if known && v != value {
			changes++
		}
		value, known = v, true
	}
	return value, known, changes
}

package foreign_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"rung/runner/gpu/foreign"
	"rung/sinks/record"
)

func begin() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// pulses are the times at which requests were in flight, seconds of the run.
func pulses() [][2]float64 { return [][2]float64{{5, 8}, {12, 13}, {20, 27}, {31, 33.5}} }

func load() []record.Request {
	var out []record.Request
	for _, p := range pulses() {
		for at := p[0]; at < p[1]; at += 0.05 {
			out = append(out, record.Request{SentTS: at, DoneTS: at + 0.05, Outcome: record.OK})
		}
	}
	return out
}

// recorded is what a card shows of the load, by a clock that is behind by so much.
func recorded(behind float64, level func(busy bool) (util, power *float64)) []record.Sample {
	var out []record.Sample
	for at := -20.0; at < 60; at += 0.2 {
		busy := false
		for _, p := range pulses() {
			busy = busy || at >= p[0] && at < p[1]
		}
		s := record.Sample{Time: begin().Add(time.Duration((at - behind) * 1e9))}
		s.UtilGPUPct, s.PowerW = level(busy)
		out = append(out, s)
	}
	return out
}

func TestAlign(t *testing.T) {
	noise := rand.New(rand.NewPCG(1, 2))
	for _, behind := range []float64{90, -3600, 0.35, 0} {
		for name, level := range map[string]func(bool) (*float64, *float64){
			"util_gpu_pct": func(busy bool) (*float64, *float64) {
				if busy {
					return new(80 + 20*noise.Float64()), nil
				}
				return new(5 * noise.Float64()), nil
			},
			"power_w": func(busy bool) (*float64, *float64) {
				if busy {
					return nil, new(300 + 30*noise.Float64())
				}
				return nil, new(75 + 10*noise.Float64())
			},
		} {
			fit, err := foreign.Align(recorded(behind, level), load(), begin())
			if err != nil || math.Abs(fit.OffsetS-behind) > 0.3 || fit.UncertaintyS <= 0 || fit.UncertaintyS > 10 || fit.By != name {
				t.Errorf("%g behind: %+v, %v", behind, fit, err)
			}
		}
	}
}

// Nothing is found where nothing stands out.
func TestAlignRefuses(t *testing.T) {
	noise := rand.New(rand.NewPCG(1, 2))
	twice := recorded(0, func(busy bool) (*float64, *float64) { return percent(busy), nil })
	twice = append(twice, recorded(-100, func(busy bool) (*float64, *float64) { return percent(busy), nil })...)
	for name, samples := range map[string][]record.Sample{
		"noise":    recorded(0, func(bool) (*float64, *float64) { return new(100 * noise.Float64()), nil }),
		"constant": recorded(0, func(bool) (*float64, *float64) { return new(100.0), new(300.0) }),
		"nothing":  recorded(0, func(bool) (*float64, *float64) { return nil, nil }),
		"twice":    twice,
	} {
		if fit, err := foreign.Align(samples, load(), begin()); !errors.Is(err, foreign.ErrNoFit) {
			t.Errorf("%s: %+v, %v", name, fit, err)
		}
	}
	if _, err := foreign.Align(recorded(0, func(busy bool) (*float64, *float64) { return percent(busy), nil }), nil, begin()); !errors.Is(err, foreign.ErrNoFit) {
		t.Errorf("no requests: %v", err)
	}
}

func percent(busy bool) *float64 {
	if busy {
		return new(100.0)
	}
	return new(0.0)
}

func TestPlace(t *testing.T) {
	rung := record.Place{Phase: record.Measure, Ladder: "batch", Rung: 2, Value: 4}
	round := rung
	round.Round = 3
	events := []record.Event{
		{TS: 1, Kind: record.PhaseBegin, Place: record.Place{Phase: record.Probe}}, {TS: 2, Kind: record.PhaseEnd},
		{TS: 3, Kind: record.RungBegin, Place: rung}, {TS: 4, Kind: record.RoundBegin, Place: round}, {TS: 5, Kind: record.RoundEnd, Place: round},
		{TS: 6, Kind: record.RungEnd, Place: rung}, {TS: 8, Kind: record.RunEnd},
	}
	var samples []record.Sample
	for _, at := range []float64{8.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5} {
		samples = append(samples, record.Sample{Time: begin().Add(time.Duration((at - 90) * 1e9))})
	}
	got := foreign.Place(samples, events, begin(), 90*time.Second)
	want := []record.Place{{}, {Phase: record.Probe}, {}, rung, round, round, {}}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, s := range got {
		if s.Place != want[i] || math.Abs(s.TS-(0.5+float64(i))) > 1e-6 {
			t.Errorf("%d: %+v", i, s)
		}
	}
}

package results

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// memoryFlags say how much of the card a server may take.
func memoryFlags() []string { return []string{"--gpu-memory-utilization", "--mem-fraction-static"} }

// memoryGiven is the share that the server says is in force or else was asked for, by the
// flag that sets it.
func memoryGiven(r *Run) (flag, given string) {
	for _, f := range memoryFlags() {
		name := strings.ReplaceAll(strings.TrimPrefix(f, "--"), "-", "_")
		for _, s := range r.Manifest.Server.Settings {
			if v := cmp.Or(s.InForce, s.Asked); s.Name == name && v != "" {
				return f, v
			}
		}
		if server := r.cell().Server; server != nil {
			if v, ok := server.Flag(f); ok {
				return f, v
			}
		}
	}
	return "", ""
}

// memoryShare is the share of the card that the server runs with, lowered by what
// the peak leaves less than safety and reserve; it is never raised.
func (rep *Report) memoryShare(r *Run) Setting {
	s := Setting{Name: SetMemoryShare}
	flag, given := memoryGiven(r)
	share, err := strconv.ParseFloat(given, 64)
	peak, at := rep.peak()
	switch {
	case flag == "":
		s.Reason = "with which share of the card's memory the server runs is not known"
	case err != nil || !within(share, 0.01, 1):
		s.Reason = fmt.Sprintf("the server runs with %s %q, which is no share", flag, given)
	case rep.Memory.TotalBytes == nil || *rep.Memory.TotalBytes <= 0 || peak == nil:
		s.Reason = "the card's memory at the limits is not known"
	}
	if s.Reason != "" {
		return s
	}
	total := float64(*rep.Memory.TotalBytes)
	h := rep.Memory.Headroom
	short := float64(*peak) + float64(h.ReserveBytes+h.ReservedBytes) + rep.Rules.Headroom.Safety*total - total
	s.From = fmt.Sprintf("%s as it was measured at", flag)
	if short > 0 {
		share = math.Floor(100*(share-short/total)) / 100
		s.From = fmt.Sprintf("%s of %s, lowered since the peak at %s leaves less than safety and reserve", flag, given, at)
	}
	if share < 0.01 {
		s.From, s.Reason = "", "the peak leaves less than safety and reserve whatever the share"
		return s
	}
	s.Value = &share
	return s
}

// peak is the greatest peak at the limits of load.
func (rep *Report) peak() (bytes *int64, at string) {
	for i := range rep.Ladders {
		l := &rep.Ladders[i]
		r := l.at(l.Limit.Value)
		if loads(l.Axis) && r != nil && r.Memory != nil && (bytes == nil || r.Memory.PeakBytes > *bytes) {
			bytes, at = &r.Memory.PeakBytes, fmt.Sprintf("%s %g", l.Axis, r.Value)
		}
	}
	return bytes, at
}

// reserve is the memory that the headroom keeps for the rung above.
func (rep *Report) reserve() Setting {
	s, h := Setting{Name: SetReserve}, rep.Memory.Headroom
	if h.AvailableBytes == nil {
		s.Reason = cmp.Or(strings.TrimPrefix(h.Reason, "headroom unknown: "), "the headroom is not known")
		return s
	}
	s.Value = new(float64(h.ReserveBytes))
	s.From = fmt.Sprintf("the memory between %s and the rung above, times reserve_rungs %d", h.PeakAt, rep.Rules.Headroom.ReserveRungs)
	if h.Extrapolated {
		s.Doubt = "extrapolated from the slope below"
	}
	return s
}

package results

import "rung/spec/plan"

// Ladder is one ladder and all that it shows.
type Ladder struct {
	Name        string      `json:"name"`
	Axis        plan.Axis   `json:"axis"`
	Setting     string      `json:"setting"` // what a limit on this axis configures
	Prompt      plan.Prompt `json:"prompt"`
	Unit        string      `json:"throughput_unit"`
	UnitReason  string      `json:"throughput_unit_reason,omitempty"` // why not the axis' own unit
	PassesAsked int         `json:"passes_planned"`
	PassesDone  int         `json:"passes_complete"` // walked through up to the edge
	Ended       string      `json:"ended"`           // why the ladder ended, as the run says
	Missing     []string    `json:"missing,omitempty"`

	// NotRising holds the planned values, in order, where they do not rise: then no
	// rung is a knee or a limit. Empty where each is above the one before.
	NotRising string `json:"not_rising,omitempty"`

	Rungs     []Rung    `json:"rungs"`      // those that were walked, from the lowest
	NotWalked []float64 `json:"not_walked"` // values of the others

	Edge           *Edge     `json:"edge,omitempty"`
	Shape          *EndShape `json:"shape,omitempty"` // how it ends; nil where it neither fails nor falls
	Boundary       *float64  `json:"boundary,omitempty"`
	BoundaryReason string    `json:"boundary_reason,omitempty"`
	Knee           Knee      `json:"knee"`
	Limit          Limit     `json:"limit"`

	Arrivals string    `json:"arrivals,omitempty"` // rate ladders: poisson, constant
	Capacity *Capacity `json:"capacity,omitempty"` // rate ladders, which have no limit and no knee

	Slope     *LatencySlope `json:"latency_slope,omitempty"` // ladders of lengths
	HighWater bool          `json:"after_high_water"`        // its peaks begin where earlier load left the memory

	Histogram  *Histogram  `json:"-"`                    // of the latencies, for the page; the JSON has their percentiles
	Onsets     []Onset     `json:"onsets,omitempty"`     // signs that the server has enough, the first in time first
	Bottleneck *Bottleneck `json:"bottleneck,omitempty"` // nil along lengths, where each rung is other work

	Warmups  []Warmups  `json:"warmup_failures,omitempty"`
	Said     []Said     `json:"errors,omitempty"`   // one failure a name
	Timeouts []TimedOut `json:"timeouts,omitempty"` // warm-ups and further rounds too
	Met      []Met      `json:"limits_met,omitempty"`
	Cache    *Cache     `json:"cache,omitempty"` // nil where nothing came from one, or the server does not say

	Findings []string `json:"findings"` // in sentences, the most important first
	Query    string   `json:"query"`    // SQL that gives n and P95 of each rung
}

// Rung is one step of a ladder, over all its passes.
type Rung struct {
	Index int        `json:"index"`
	Value float64    `json:"value"`
	Shape plan.Shape `json:"shape"`

	Sent     int        `json:"sent"` // measured requests, refused rounds too
	Latency  *Latency   `json:"latency,omitempty"`
	Output   *Output    `json:"output,omitempty"`   // of counted successes that tell their length
	Failures []Failures `json:"failures,omitempty"` // of all that were sent, as the stop rule looks at them
	// FailureRate is that of all measured requests, with its interval.
	FailureRate *Rate `json:"failure_rate,omitempty"`
	// FailedRefused is how many of the failures were in refused rounds, which no
	// other figure of the rung rests on.
	FailedRefused int    `json:"failed_in_refused_rounds,omitempty"`
	Failed        string `json:"failed,omitempty"` // why the rung fails by the stop rule
	Slow          string `json:"slow,omitempty"`   // why it is too slow by the stop rule, and does not fail

	Throughput       *float64   `json:"throughput,omitempty"`
	ThroughputByPass []*float64 `json:"throughput_by_pass"`
	ThroughputReason string     `json:"throughput_reason,omitempty"`
	P95ByPass        []*float64 `json:"p95_by_pass_s"`
	InputsPerP50     *float64   `json:"inputs_per_p50,omitempty"` // batch ladders: batch/P50, per second
	MeanInFlight     *float64   `json:"mean_in_flight,omitempty"`
	Open             *OpenLoop  `json:"open_loop,omitempty"` // rate ladders
	Increment        *Increment `json:"increment,omitempty"`

	Stream  *Stream  `json:"stream,omitempty"`  // nil where nothing was streamed
	Answers *Answers `json:"answers,omitempty"` // of a generating model
	Steady  *Steady  `json:"steady,omitempty"`  // nil where it is not asked
	Goodput *Goodput `json:"goodput,omitempty"` // nil where no objective is declared

	Refused       []Refusal `json:"refused,omitempty"`
	LostRounds    int       `json:"lost_rounds"` // rounds without an attempt that counts
	ClientLimited bool      `json:"client_limited"`

	Memory       *RungMemory `json:"memory,omitempty"`
	MemoryReason string      `json:"memory_reason,omitempty"`

	Client    Sender     `json:"client"`
	Diagnosis *Diagnosis `json:"diagnosis,omitempty"`

	Gauges *Gauges `json:"server,omitempty"` // nil where no reading fell into its windows
	Card   *Card   `json:"card,omitempty"`   // nil where no sample did

	Marks []Mark `json:"marks,omitempty"`
}

// Mark says what a rung is to its ladder.
type Mark string

// The marks.
const (
	MarkLimit    Mark = "limit"
	MarkBest     Mark = "best"
	MarkKnee     Mark = "knee"
	MarkBoundary Mark = "boundary"
	MarkEdge     Mark = "edge"
	MarkCapacity Mark = "capacity"
)

// Refusal counts attempts of rounds that do not count, for one reason.
type Refusal struct {
	Reason   string `json:"reason"`
	Attempts int    `json:"attempts"`
}

// Increment is what a rung brings over the rung below it.
type Increment struct {
	Absolute   float64  `json:"absolute"`              // in the ladder's unit
	Relative   float64  `json:"relative"`              // to the throughput below
	OverBefore *float64 `json:"over_before,omitempty"` // over the increment before it; nil where that was not above 0
}

// RungMemory is the memory of the fullest device while a rung was walked for the
// first time, from its first warm-up to one interval after its last end.
type RungMemory struct {
	PeakBytes      int64  `json:"peak_bytes"`
	Samples        int    `json:"samples"` // under five are marked: a spike between two is not seen
	OverIdleBytes  *int64 `json:"over_idle_bytes,omitempty"`
	OverBelowBytes *int64 `json:"over_below_bytes,omitempty"`
	// AfterHighWater says that earlier load had already taken as much, so that
	// the peak says nothing of this rung.
	AfterHighWater bool `json:"after_high_water"`
}

// The kinds of edge.
const (
	EdgeFails = "failure"
	EdgeSlow  = "slow" // by P95 or by throughput, which is no failure
)

// Edge is the first rung that fails, or is too slow.
type Edge struct {
	Kind      string     `json:"kind"`
	Index     int        `json:"index"`
	Value     float64    `json:"value"`
	Reason    string     `json:"reason"`
	Failures  []Failures `json:"failures"`
	Pass      int        `json:"pass"`      // in which the rung first failed
	Confirmed string     `json:"confirmed"` // what the confirming rounds showed
	AtTimes   bool       `json:"at_times"`  // a confirming round passed
	OnFew     bool       `json:"on_few"`    // a slow edge by a P95 of too few requests
	// First is the outcome of the rung's warm-ups where its rounds found no server
	// any more: then that, not refused, is what happened to it.
	First string `json:"first,omitempty"`
	// Settings name what to look at in the server, where what failed was a limit of it.
	Settings []string `json:"settings,omitempty"`
}

// Limit is what gets configured.
type Limit struct {
	Value  *float64 `json:"value,omitempty"`
	Bound  string   `json:"bound,omitempty"` // what bound it: knee, edge, p95, memory, last_rung
	Reason string   `json:"reason"`          // how it came about, or why there is none

	Check   string `json:"check,omitempty"`      // confirmed, not confirmed, not checked
	Checked string `json:"checked,omitempty"`    // the same, by what and why
	By      string `json:"checked_by,omitempty"` // the kind of check that decided: retest, confirm
}

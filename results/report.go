package results

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// Version is the version of Report's JSON.
const Version = 1

// Report is what a run shows: every figure, every answer and, where there is
// none, why. Its JSON is report.json. Spans are in seconds, memory in bytes.
type Report struct {
	Version   int  `json:"version"`
	Simulated bool `json:"simulated,omitempty"` // no figure is of a real server
	// SimulatedBy is what gives a simulated server away where the run did not
	// start it itself.
	SimulatedBy string `json:"simulated_by,omitempty"`

	Verdict  string        `json:"verdict"` // the one sentence on top
	Notices  []string      `json:"notices"` // what a reader must know before any figure
	Run      Header        `json:"run"`
	Baseline Baseline      `json:"baseline"`
	Ladders  []Ladder      `json:"ladders"`
	Memory   Memory        `json:"memory"`
	Rules    plan.Analysis `json:"rules"` // by which the report was made
	Spec     string        `json:"spec,omitempty"`
}

// Header says what was run, where and how it ended.
type Header struct {
	Dir          string            `json:"dir"`
	Experiment   string            `json:"experiment"`
	Description  string            `json:"description,omitempty"`
	RunID        string            `json:"run_id"`
	Cell         string            `json:"cell,omitempty"`
	Status       record.Status     `json:"status"`
	Error        string            `json:"error,omitempty"`
	Began        time.Time         `json:"began"`
	Ended        *time.Time        `json:"ended,omitempty"`
	SpecHash     string            `json:"spec_hash"`
	WorkloadHash string            `json:"workload_hash"`
	PlanDigest   string            `json:"plan_digest"`
	Seed         int64             `json:"seed"`
	Variables    map[string]string `json:"variables,omitempty"`
	Git          *record.Git       `json:"git,omitempty"`
	Rung         string            `json:"rung_version"`
	API          plan.API          `json:"api"`
	URL          string            `json:"url,omitempty"`
	Model        string            `json:"model"`
	Host         record.Host       `json:"host"`
	Server       record.Server     `json:"server"`
	GPUs         []record.Device   `json:"gpus"`
	GPU          record.GPUInfo    `json:"gpu"`
	Counts       record.Counts     `json:"counts"` // over the rows that were read
}

// Failures are requests that the server failed, under one name.
type Failures struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// Baseline is the server at rest and with one request at a time.
type Baseline struct {
	Reason   string     `json:"reason,omitempty"` // why there are no requests
	Shape    plan.Shape `json:"shape"`
	Latency  *Latency   `json:"latency,omitempty"`
	Failures []Failures `json:"failures,omitempty"`
	Warmups  []Failures `json:"warmup_failures,omitempty"` // before the single requests
	Refused  []Refusal  `json:"refused,omitempty"`

	P95OverMedian *float64 `json:"p95_over_median,omitempty"`
	Noisy         bool     `json:"noisy"`
	Verdict       string   `json:"verdict"` // quiet, noisy, or why neither is known

	SPer1000Tokens     *float64 `json:"s_per_1000_tokens,omitempty"`            // of input and output
	SPer1000Completion *float64 `json:"s_per_1000_completion_tokens,omitempty"` // of output alone
	TokensReason       string   `json:"tokens_reason,omitempty"`                // why a figure is missing

	// IdleBytes is what the loaded model holds by itself: the median of the idle
	// time, or the reading before the first request where that is less. Then
	// IdleProbedBytes is the median, which has in it what the probes took.
	IdleBytes       *int64 `json:"idle_bytes,omitempty"`
	IdleProbedBytes *int64 `json:"idle_probed_bytes,omitempty"`
	IdleSamples     int    `json:"idle_samples"` // in the idle time
	IdleReason      string `json:"idle_reason,omitempty"`
}

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

	Edge           *Edge    `json:"edge,omitempty"`
	Boundary       *float64 `json:"boundary,omitempty"`
	BoundaryReason string   `json:"boundary_reason,omitempty"`
	Knee           Knee     `json:"knee"`
	Limit          Limit    `json:"limit"`

	Warmups []Warmups `json:"warmup_failures,omitempty"`
	Said    []Said    `json:"errors,omitempty"` // one failure a name
	Met     []Met     `json:"limits_met,omitempty"`
	Cache   *Cache    `json:"cache,omitempty"` // nil where nothing came from one, or the server does not say

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
	// FailedRefused is how many of the failures were in refused rounds, which no
	// other figure of the rung rests on.
	FailedRefused int    `json:"failed_in_refused_rounds,omitempty"`
	Failed        string `json:"failed,omitempty"` // why the rung fails by the stop rule

	Throughput       *float64   `json:"throughput,omitempty"`
	ThroughputByPass []*float64 `json:"throughput_by_pass"`
	ThroughputReason string     `json:"throughput_reason,omitempty"`
	P95ByPass        []*float64 `json:"p95_by_pass_s"`
	InputsPerP50     *float64   `json:"inputs_per_p50,omitempty"` // batch ladders: batch/P50, per second
	MeanInFlight     *float64   `json:"mean_in_flight,omitempty"`
	Increment        *Increment `json:"increment,omitempty"`

	Refused       []Refusal `json:"refused,omitempty"`
	LostRounds    int       `json:"lost_rounds"` // rounds without an attempt that counts
	ClientLimited bool      `json:"client_limited"`

	Memory       *RungMemory `json:"memory,omitempty"`
	MemoryReason string      `json:"memory_reason,omitempty"`

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

// Edge is the first rung that fails.
type Edge struct {
	Index     int        `json:"index"`
	Value     float64    `json:"value"`
	Reason    string     `json:"reason"`
	Failures  []Failures `json:"failures"`
	Pass      int        `json:"pass"`      // in which the rung first failed
	Confirmed string     `json:"confirmed"` // what the confirming rounds showed
	AtTimes   bool       `json:"at_times"`  // a confirming round passed
	// First is the outcome of the rung's warm-ups where its rounds found no server
	// any more: then that, not refused, is what happened to it.
	First string `json:"first,omitempty"`
}

// Limit is what gets configured.
type Limit struct {
	Value  *float64 `json:"value,omitempty"`
	Bound  string   `json:"bound,omitempty"` // what bound it: knee, edge, p95, memory, last_rung
	Reason string   `json:"reason"`          // how it came about, or why there is none
}

// Memory is the memory of the whole run and how much of it must stay free.
type Memory struct {
	Reason     string   `json:"reason,omitempty"` // why nothing is known
	Device     int      `json:"device"`           // the fullest of the devices that were sampled
	DeviceName string   `json:"device_name,omitempty"`
	Devices    int      `json:"devices"`
	TotalBytes *int64   `json:"total_bytes,omitempty"`
	Headroom   Headroom `json:"headroom"`
}

// Headroom is what remains free at the limits:
//
//	available = total - reserved - safety·total - peak - reserve
type Headroom struct {
	AvailableBytes *int64   `json:"available_bytes,omitempty"`
	Reason         string   `json:"reason,omitempty"` // why it is unknown
	ReservedBytes  int64    `json:"reserved_bytes"`   // by the driver
	SafetyBytes    int64    `json:"safety_bytes"`
	PeakBytes      int64    `json:"peak_bytes"`
	PeakAt         string   `json:"peak_at,omitempty"` // ladder and rung
	ReserveBytes   int64    `json:"reserve_bytes"`     // between the limit and the rung above it
	Extrapolated   bool     `json:"reserve_extrapolated"`
	NotMeasured    []string `json:"not_measured,omitempty"`
}

// query is the SQL that gives the number of counted successes and the P95 of each
// rung, in DuckDB, from the run's own files.
func query(dir, ladder string) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	return fmt.Sprintf(`select rung_value, count(*) as n, quantile_cont(latency_s, 0.95) as p95_s
from %s
where ladder = %s and phase = 'measure' and counted and outcome = 'ok'
group by 1 order by 1`, quote(filepath.ToSlash(filepath.Join(dir, "requests", "*.parquet"))), quote(ladder))
}

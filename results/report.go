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

	Verdict  string         `json:"verdict"`           // the one sentence on top
	Notices  []string       `json:"notices"`           // what a reader must know before any figure
	Invalid  []string       `json:"invalid,omitempty"` // why the result must not be relied on
	Run      Header         `json:"run"`
	Baseline Baseline       `json:"baseline"`
	Ladders  []Ladder       `json:"ladders"`
	Equal    []Equal        `json:"equal_throughput,omitempty"` // batch against concurrency
	Memory   Memory         `json:"memory"`
	Client   Instrument     `json:"client"`
	Metrics  Metrics        `json:"metrics"`          // of the server itself
	Checks   []Check        `json:"checks,omitempty"` // of limits, by retest and confirm
	Rules    plan.Analysis  `json:"rules"`            // by which the report was made
	SLO      *plan.SLO      `json:"slo,omitempty"`
	Settings []Setting      `json:"settings"`          // what can be configured by it
	Configs  []Config       `json:"configs,omitempty"` // in the forms that the spec asks for
	Rollback *plan.Rollback `json:"rollback,omitempty"`
	Spec     string         `json:"spec,omitempty"`

	// Timeline is a view of the rows for the page's picture, and not in the JSON: who reads
	// that has the rows. nil where the run took no time.
	Timeline *Timeline `json:"-"`
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
	JPer1000Tokens     *float64 `json:"j_per_1000_tokens,omitempty"`            // of all cards that count their energy
	Others             string   `json:"others,omitempty"`                       // what else used the machine, where that was seen

	// IdleBytes is what the loaded model holds by itself: the median of the idle
	// time, or the reading before the first request where that is less. Then
	// IdleProbedBytes is the median, which has in it what the probes took.
	IdleBytes       *int64 `json:"idle_bytes,omitempty"`
	IdleProbedBytes *int64 `json:"idle_probed_bytes,omitempty"`
	IdleSamples     int    `json:"idle_samples"` // in the idle time
	IdleReason      string `json:"idle_reason,omitempty"`
}

// Memory is the memory of the whole run and how much of it must stay free.
type Memory struct {
	Reason     string   `json:"reason,omitempty"` // why nothing is known
	Device     int      `json:"device"`           // the fullest of the devices that were sampled
	DeviceName string   `json:"device_name,omitempty"`
	Devices    int      `json:"devices"`
	TotalBytes *int64   `json:"total_bytes,omitempty"`
	Headroom   Headroom `json:"headroom"`
	// Preallocated says that the server took its memory up front: then what is in use of
	// the card says nothing of the load.
	Preallocated bool `json:"preallocated,omitempty"`

	Slopes []MemorySlope `json:"slopes,omitempty"`     // of ladders of batch and of length
	Says   string        `json:"slopes_say,omitempty"` // which is the steeper, as observed
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
	NoLadder       string   `json:"no_ladder,omitempty"` // which load the spec has no ladder of

	// Pool stands in place of the bytes where the server took its memory up front and
	// tells how full that is.
	Pool *Pool `json:"pool,omitempty"`
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

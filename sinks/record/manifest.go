package record

import (
	"encoding/json"
	"fmt"
	"time"
)

// Status is how a run ended.
type Status string

// The statuses.
const (
	Running           Status = "running" // or killed: the manifest was never finished
	Done              Status = "done"    // an edge reached included
	Failed            Status = "failed"
	InterruptedStatus Status = "interrupted"
)

// Manifest says what was run, where and how it ended. It is written once when
// the run begins (Running) and again, last of all files, when it ends.
type Manifest struct {
	SchemaVersion int    `json:"schema_version"`
	Rung          string `json:"rung_version"`
	Simulated     bool   `json:"simulated"`
	Experiment    string `json:"experiment"`
	RunID         string `json:"run_id"`
	Cell          string `json:"cell,omitempty"`
	Status        Status `json:"status"`
	Error         string `json:"error,omitempty"` // why a failed run failed

	SpecHash     string            `json:"spec_hash"`
	WorkloadHash string            `json:"workload_hash"` // that of the cell
	PlanDigest   string            `json:"plan_digest"`
	Seed         int64             `json:"seed"`
	Variables    map[string]string `json:"variables,omitempty"` // a sensitive one is "(sensitive)"
	Plan         json.RawMessage   `json:"plan"`                // the evaluated spec: plan.Plan

	Began   time.Time  `json:"began"`
	Ended   *time.Time `json:"ended,omitempty"`
	Canary  *Canary    `json:"canary,omitempty"`  // nil: the ladders were walked whole
	Resumes []Resume   `json:"resumes,omitempty"` // each time that a run which had stopped went on

	Host    Host         `json:"host"`
	Git     *Git         `json:"git,omitempty"` // nil where the spec is in no repository
	Server  Server       `json:"server"`
	GPUs    []Device     `json:"gpus"`
	GPU     GPUInfo      `json:"gpu"`
	Metrics *MetricsInfo `json:"metrics,omitempty"` // nil: the server's own metrics were not read
	Client  Client       `json:"client"`
	Parts   []Part       `json:"parts"`
	Counts  Counts       `json:"counts"`
}

// Resume is a run going on after it had stopped. How long the gap was is in the event
// "resumed".
type Resume struct {
	At      time.Time `json:"at"`
	After   Status    `json:"after"` // what the run was before; running: it had been killed
	Rung    string    `json:"rung_version"`
	Changed []string  `json:"changed"` // what of the machine, the server and the cards was not as before
}

// Canary says at which limits, of another run, a run was held.
type Canary struct {
	RunID  string        `json:"run_id"` // whose limits they are
	Limits []CanaryLimit `json:"limits"` // in order of the ladders
}

// CanaryLimit is the limit of one ladder.
type CanaryLimit struct {
	Ladder string  `json:"ladder"`
	Value  float64 `json:"value"`
}

// Host is the machine that rung ran on.
type Host struct {
	Name     string `json:"name"`
	OS       string `json:"os"`
	Kernel   string `json:"kernel,omitempty"`
	CPU      string `json:"cpu,omitempty"`
	CPUs     int    `json:"cpus"`
	Governor string `json:"governor,omitempty"`
}

// Client is what is known of the instrument itself.
type Client struct {
	Floor     *Floor  `json:"floor,omitempty"`     // nil: not measured
	Unchecked string  `json:"unchecked,omitempty"` // why not
	IntervalS float64 `json:"interval_s"`          // between two samples of it
}

// Floor is how fast this machine can send, at the planned load, to a server on
// loopback that answers at once.
type Floor struct {
	InFlight int     `json:"in_flight"`
	Requests int     `json:"requests"`
	RatePerS float64 `json:"rate_per_s"`
	P50S     float64 `json:"p50_s"` // of a request, seconds
	P95S     float64 `json:"p95_s"`
	P99S     float64 `json:"p99_s"`
	CPUPct   float64 `json:"cpu_pct"` // of all cores, that server's share too
}

// Git is the commit of the spec.
type Git struct {
	Commit string `json:"commit"`
	Clean  bool   `json:"clean"` // the spec's file is as committed
}

// Server is what the target said of itself in the probe. All of it is untrusted
// text, bounded and valid UTF-8.
type Server struct {
	Software      string   `json:"software,omitempty"` // the Server header, or what its model list gives away
	Version       string   `json:"version,omitempty"`
	Models        []string `json:"models,omitempty"`
	MaxModelLen   *int     `json:"max_model_len,omitempty"`
	MaxBatch      *int     `json:"max_batch,omitempty"`      // inputs in one request
	MaxConcurrent *int     `json:"max_concurrent,omitempty"` // requests, or inputs, that it takes at once
	InputForm     string   `json:"input_form,omitempty"`     // "ids" or "text": how the prompts were sent
	Tokeniser     string   `json:"tokeniser,omitempty"`      // which endpoint counted, or "usage"
	TemplateExtra int      `json:"template_extra,omitempty"` // tokens that the chat template adds

	Settings []Setting `json:"settings,omitempty"` // in order of their names
}

// Setting is one setting of the server: what its command asked for and what the server
// says is in force. An empty text is unknown.
type Setting struct {
	Name     string `json:"name"`               // as the server calls it, with _: "max_num_seqs"
	Flag     string `json:"flag,omitempty"`     // by which the command sets it
	Asked    string `json:"asked,omitempty"`    // as the command has it
	InForce  string `json:"in_force,omitempty"` // as the server says it
	Source   string `json:"source,omitempty"`   // where it says so: a page, a series of its metrics, or its log
	Differs  bool   `json:"differs,omitempty"`  // in force is not what was asked
	Defaults bool   `json:"defaults,omitempty"` // a limit that the command does not set
}

// Device is one GPU as the sampler found it.
type Device struct {
	Index         int      `json:"index"`
	UUID          string   `json:"uuid"`
	Name          string   `json:"name"`
	Driver        string   `json:"driver,omitempty"`
	MemTotalBytes *int64   `json:"mem_total_bytes,omitempty"`
	PowerLimitW   *float64 `json:"power_limit_w,omitempty"`
	MIG           *bool    `json:"mig,omitempty"`
	ECC           *bool    `json:"ecc,omitempty"`
	Unsupported   []string `json:"unsupported,omitempty"` // columns that this card or driver has not
}

// GPUInfo says where samples came from.
type GPUInfo struct {
	Source    string  `json:"source"`             // nvml, dcgm, nvidia-smi, file, simulator, none
	Reason    string  `json:"reason,omitempty"`   // why there are no samples
	IntervalS float64 `json:"interval_s"`         // between two samples of a device
	Late      int     `json:"late,omitempty"`     // samples more than one interval late, or left out because an earlier one took so long
	Warnings  string  `json:"warnings,omitempty"` // what the sampler could not do
	Import    *Import `json:"import,omitempty"`   // nil: they were taken while the run went on
}

// Import says how samples that were recorded elsewhere came into a run.
type Import struct {
	File         string       `json:"file"`
	SHA256       string       `json:"sha256"`                  // of the file's bytes; of a folder's parts, one after the other
	OffsetS      float64      `json:"offset_s"`                // added to the file's times to give those of the run's machine
	UncertaintyS *float64     `json:"uncertainty_s,omitempty"` // either way; nil where the offset was not measured
	Method       ImportMethod `json:"method"`
	Notes        []string     `json:"notes,omitempty"` // lines that were no samples, and why columns are null
}

// Offset says in words what was added to the file's times.
func (i Import) Offset() string {
	switch i.Method {
	case MeasuredOffset:
		within := 0.0
		if i.UncertaintyS != nil {
			within = *i.UncertaintyS
		}
		return fmt.Sprintf("offset %+.1f s, uncertain by %.1f s either way, found by the load", i.OffsetS, within)
	case GivenOffset:
		return fmt.Sprintf("offset %+g s, as given", i.OffsetS)
	default:
		return "by both machines' clocks as they were, whose difference is not known"
	}
}

// ImportMethod says where an import's offset is from.
type ImportMethod string

// The methods.
const (
	GivenOffset    ImportMethod = "given"
	MeasuredOffset ImportMethod = "measured" // by the load, which both show
	WallClocks     ImportMethod = "clocks"   // both machines' clocks were taken as they are
)

// Part is one file of a table.
type Part struct {
	Path   string `json:"path"` // relative to the run's folder, with slashes
	Table  string `json:"table"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// mostRoom bounds the rows that a manifest, which may be false, makes anyone take memory for.
const mostRoom = 1 << 20

// Room is how many rows of a table to make room for before they are read: as many as its
// parts have by the list, or the most where that is more. There may be others.
func (m Manifest) Room(table string) int {
	n := int64(0)
	for _, p := range m.Parts {
		if p.Table == table {
			n = min(n+max(0, min(p.Rows, mostRoom)), mostRoom)
		}
	}
	return int(n)
}

// Counts sums up a run.
type Counts struct {
	Requests int64 `json:"requests"`
	Counted  int64 `json:"counted"`
	Failed   int64 `json:"failed"`
	Samples  int64 `json:"samples"`
	Events   int64 `json:"events"`
	Server   int64 `json:"server,omitempty"` // rows of the server's metrics
}

// Package plan holds the types of a plan: everything a run will do, known
// before anything is sent. It is a leaf that every package may import; it knows
// no HCL, holds no pointers into a file and no secrets, and its JSON is stable.
//
// The plan is a recipe. It holds shapes, counts, orders and seeds; the bodies of
// the requests are made from it when a run prepares, because only the server's
// tokeniser can say how many tokens a text has.
package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Format is the version of the plan's canonical form. It is part of every
// digest, so that two versions of rung never agree by accident.
const Format = 1

// API names one dialect that a target speaks.
type API string

// The dialects.
const (
	OpenAIEmbeddings API = "openai-embeddings"
	OpenAIChat       API = "openai-chat"
)

// Axis names the variable that a ladder raises.
type Axis string

// The axes.
const (
	AxisBatch       Axis = "batch"
	AxisInputTokens Axis = "input_tokens"
	AxisConcurrency Axis = "concurrency"
)

// HasKnee says whether the knee rule means anything on the axis: along
// input_tokens each rung is different work, so there are only edge and slope.
func (a Axis) HasKnee() bool { return a == AxisBatch || a == AxisConcurrency }

// Plan is one evaluated experiment: the order of everything that a run sends.
type Plan struct {
	Format       int        `json:"format"`
	Experiment   string     `json:"experiment"`
	Description  string     `json:"description,omitempty"`
	Seed         int64      `json:"seed"`
	SpecHash     string     `json:"spec_hash"`     // SHA-256, hex, of the evaluated experiment
	WorkloadHash string     `json:"workload_hash"` // the same without target and simulator
	Target       Target     `json:"target"`
	Simulator    *Simulator `json:"simulator,omitempty"` // nil where the spec declares none
	GPU          GPU        `json:"gpu"`
	Analysis     Analysis   `json:"analysis"`
	Cells        []Cell     `json:"cells"` // at least one
}

// Simulated says that a run of the plan starts the built-in simulated server
// even without --simulate: the spec has a simulator and no target.url.
func (p Plan) Simulated() bool { return p.Simulator != nil && !p.Target.HasURL }

// Digest is the SHA-256, in hex, of the plan's JSON.
func (p Plan) Digest() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("plan: types that always marshal did not: %v", err))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Target is the server under test, without its secrets (see Secrets).
type Target struct {
	API     API             `json:"api"`
	URL     string          `json:"url,omitempty"` // empty where it is sensitive or left out
	HasURL  bool            `json:"has_url"`       // a url was given, sensitive or not
	Model   string          `json:"model"`
	Headers []Header        `json:"headers,omitempty"` // in order of name
	Body    json.RawMessage `json:"body,omitempty"`    // a JSON object merged into each request's body
	Timeout Timeout         `json:"timeout"`
}

// Header is one header of every request; a sensitive one has no value here.
type Header struct {
	Name      string `json:"name"`
	Value     string `json:"value,omitempty"`
	Sensitive bool   `json:"sensitive,omitempty"`
}

// Timeout bounds one request.
type Timeout struct {
	Connect Duration `json:"connect"` // to an open connection
	Request Duration `json:"request"` // from the send to the last byte
}

// GPU says where the samples of the accelerator come from.
type GPU struct {
	Source   string   `json:"source"`   // nvml, simulator, none
	Declared bool     `json:"declared"` // the spec names it: then its failure is an error, not a warning
	Devices  []string `json:"devices,omitempty"`
	Interval Duration `json:"interval"`
}

// Cell is one combination of the matrix; a spec without a matrix has one.
type Cell struct {
	Index    int       `json:"index"`
	Name     string    `json:"name,omitempty"` // empty without a matrix
	Baseline *Baseline `json:"baseline,omitempty"`
	Ladders  []Ladder  `json:"ladders"`
}

// Prompt says what the text of a request is. Its length is in Shape.
type Prompt struct {
	Name     string `json:"name"`
	TextFile string `json:"text_file,omitempty"` // as written in the spec
	TextHash string `json:"text_hash,omitempty"` // SHA-256, hex, of the file's bytes
}

// Shape is all that the server can tell of a request's size, and how many of
// its kind are in flight beside it.
type Shape struct {
	Batch        int `json:"batch"`                   // inputs in one request
	InputTokens  int `json:"input_tokens"`            // tokens of each input, as the server counts them
	OutputTokens int `json:"output_tokens,omitempty"` // tokens asked of a generating model; 0 for embeddings
	InFlight     int `json:"in_flight"`               // closed loop: requests in flight
}

// Baseline is what comes before all ladders: silence, then single requests.
type Baseline struct {
	Idle     Duration `json:"idle"` // nothing is sent for so long
	Prompt   Prompt   `json:"prompt"`
	Shape    Shape    `json:"shape"` // InFlight is 1
	Warmup   int      `json:"warmup"`
	Requests int      `json:"requests"`
}

// Ladder raises one variable step by step, all else fixed.
type Ladder struct {
	Name     string   `json:"name"` // the block's label
	Axis     Axis     `json:"axis"`
	Prompt   Prompt   `json:"prompt"`
	Rungs    []Rung   `json:"rungs"`
	Passes   []Pass   `json:"passes"`
	Reruns   int      `json:"reruns"` // times that each refused round may be run again
	Cooldown Duration `json:"cooldown"`
	Stop     Stop     `json:"stop"`
}

// Rung is one step of a ladder.
type Rung struct {
	Index    int     `json:"index"`
	Value    float64 `json:"value"` // in the axis' unit
	Shape    Shape   `json:"shape"`
	Warmup   int     `json:"warmup"`   // requests at the rung's own shape before its rounds, in each pass
	Rounds   int     `json:"rounds"`   // in each pass
	Requests int     `json:"requests"` // in each round
}

// Pass is one walk along the ladder.
type Pass struct {
	Index int   `json:"index"`
	Up    bool  `json:"up"`
	Order []int `json:"order"` // indices of rungs, as walked
}

// Analysis holds the report's rules, declared before the run.
type Analysis struct {
	Use           string        `json:"use"` // interactive, offline
	Knee          Knee          `json:"knee"`
	Limit         Limit         `json:"limit"`
	Headroom      Headroom      `json:"headroom"`
	BaselineCheck BaselineCheck `json:"baseline_check"`
	Config        Config        `json:"config"`
}

// Knee is the rule that picks the best rung, and its thresholds.
type Knee struct {
	Rule            string  `json:"rule"` // power, half_increment
	Elasticity      float64 `json:"elasticity"`
	Tie             float64 `json:"tie"`
	P95Rise         float64 `json:"p95_rise"`
	Factor          float64 `json:"factor"`
	Flat            float64 `json:"flat"`
	Gain            float64 `json:"gain"`
	P95OverBaseline float64 `json:"p95_over_baseline"`
}

// Limit caps what gets configured.
type Limit struct {
	P95Ratio float64 `json:"p95_ratio"` // on concurrency ladders, over the baseline's P95
}

// Headroom is the memory that must stay free.
type Headroom struct {
	ReserveRungs int     `json:"reserve_rungs"`
	Safety       float64 `json:"safety"` // share of the total
}

// BaselineCheck judges the baseline itself.
type BaselineCheck struct {
	Interference float64 `json:"interference"` // P95 over median
}

// Config holds the factors for emitted settings.
type Config struct {
	QueueFactor   float64 `json:"queue_factor"`
	TimeoutFactor float64 `json:"timeout_factor"`
}

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
	"path/filepath"
)

// Format is the version of the plan's canonical form. It is part of every
// digest, so that two versions of rung never agree by accident.
const Format = 1

// API names one dialect that a target speaks.
type API string

// The dialects.
const (
	OpenAIEmbeddings  API = "openai-embeddings"
	OpenAIChat        API = "openai-chat"
	OpenAICompletions API = "openai-completions"
	TEIEmbed          API = "tei-embed"
	Exec              API = "exec" // a program that reads a batch as a line of JSON and answers one
)

// Generates says that the API gives tokens one after another, not vectors.
func (a API) Generates() bool { return a == OpenAIChat || a == OpenAICompletions }

// Axis names the variable that a ladder raises.
type Axis string

// The axes.
const (
	AxisBatch        Axis = "batch"
	AxisInputTokens  Axis = "input_tokens"
	AxisOutputTokens Axis = "output_tokens"
	AxisConcurrency  Axis = "concurrency"
	AxisRate         Axis = "rate"
)

// HasKnee says whether the knee rule means anything on the axis: along the lengths
// each rung is different work, so there are only edge and slope, and along rate
// there is a capacity.
func (a Axis) HasKnee() bool { return a == AxisBatch || a == AxisConcurrency }

// Plan is one evaluated experiment: the order of everything that a run sends.
type Plan struct {
	Format       int        `json:"format"`
	Experiment   string     `json:"experiment"`
	Description  string     `json:"description,omitempty"`
	Seed         int64      `json:"seed"`
	SpecHash     string     `json:"spec_hash"`     // SHA-256, hex, of the evaluated experiment
	WorkloadHash string     `json:"workload_hash"` // that of the cells, where they have one; else over theirs
	Target       Target     `json:"target"`
	Simulator    *Simulator `json:"simulator,omitempty"` // nil where the spec declares none
	GPU          GPU        `json:"gpu"`
	Metrics      *Metrics   `json:"metrics,omitempty"` // nil: the server's own metrics are not read
	Analysis     Analysis   `json:"analysis"`
	SLO          *SLO       `json:"slo,omitempty"`
	Rollback     *Rollback  `json:"rollback,omitempty"`
	Configs      []string   `json:"configs,omitempty"` // forms of configuration that the report writes: vllm, tei, sglang, yaml
	Cells        []Cell     `json:"cells"`             // at least one
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
	API     API      `json:"api"`
	URL     string   `json:"url,omitempty"` // empty where it is sensitive or left out
	HasURL  bool     `json:"has_url"`       // a url was given, sensitive or not
	Model   string   `json:"model"`
	Headers []Header `json:"headers,omitempty"` // in order of name
	Command []string `json:"command,omitempty"` // exec: the program and its arguments
	Proxy   string   `json:"proxy,omitempty"`   // the only proxy that a run uses; none from the environment
	TLS     *TLS     `json:"tls,omitempty"`     // nil: an https server is known by the system's authorities
	Timeout Timeout  `json:"timeout"`
}

// TLS says how an https server is known, and rung to it. The files are named by their
// paths; a relative one is beside the experiment file.
type TLS struct {
	CA          string `json:"ca,omitempty"`          // PEM: the authorities that are trusted, in place of the system's
	Certificate string `json:"certificate,omitempty"` // PEM: the client's own
	Key         string `json:"key,omitempty"`         // PEM: its key, which is read and never recorded
	Insecure    bool   `json:"insecure,omitempty"`    // any certificate is taken
}

// In gives the same with its files in a folder, where their paths are relative.
func (t *TLS) In(dir string) *TLS {
	if t == nil {
		return nil
	}
	out := *t
	for _, p := range []*string{&out.CA, &out.Certificate, &out.Key} {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(dir, *p)
		}
	}
	return &out
}

// Header is one header of every request; a sensitive one has no value here.
type Header struct {
	Name      string `json:"name"`
	Value     string `json:"value,omitempty"`
	Sensitive bool   `json:"sensitive,omitempty"`
}

// Timeout bounds one request.
type Timeout struct {
	Connect      Duration `json:"connect"`       // to an open connection
	Request      Duration `json:"request"`       // from the send to the last byte
	FirstByte    Duration `json:"first_byte"`    // streams: from the send to the first byte
	BetweenBytes Duration `json:"between_bytes"` // streams: from one byte to the next
}

// GPU says where the samples of the accelerator come from.
type GPU struct {
	Source   string   `json:"source"`   // nvml, dcgm, nvidia-smi, file, simulator, none
	Declared bool     `json:"declared"` // the spec names it: then its failure is an error, not a warning
	Devices  []string `json:"devices,omitempty"`
	Interval Duration `json:"interval"`
	URL      string   `json:"url,omitempty"`     // dcgm: the exporter's page
	Path     string   `json:"path,omitempty"`    // file: the samples, recorded elsewhere
	Command  []string `json:"command,omitempty"` // nvidia-smi: the program and its first arguments
}

// Metrics says where the server's own Prometheus page is.
type Metrics struct {
	Path     string   `json:"path"`          // at the target's address
	URL      string   `json:"url,omitempty"` // in place of Path, where the page has another address
	Interval Duration `json:"interval"`
}

// SLO is what a request must meet to count as goodput; 0 leaves a part out.
type SLO struct {
	Latency Duration `json:"latency,omitempty"`
	TTFT    Duration `json:"ttft,omitempty"`
	TPOT    Duration `json:"tpot,omitempty"`
}

// Rollback is what rung gate holds a later run against.
type Rollback struct {
	Outcomes     []string `json:"outcomes,omitempty"`
	P95          Duration `json:"p95,omitempty"`           // 0: none
	TimeoutRatio *float64 `json:"timeout_ratio,omitempty"` // of the measured requests
	CapShare     *float64 `json:"cap_share,omitempty"`     // of the samples in which the server's batch is at its cap
}

// Cell is one combination of the matrix; a spec without a matrix has one.
type Cell struct {
	Index    int             `json:"index"`
	Name     string          `json:"name,omitempty"` // "max_num_seqs=8,dtype=half"; empty without a matrix
	Values   []Setting       `json:"values,omitempty"`
	Body     json.RawMessage `json:"body,omitempty"`   // target.body: a JSON object merged into each request's body
	Server   *Server         `json:"server,omitempty"` // nil: the server is attached and its log is not read
	Baseline *Baseline       `json:"baseline,omitempty"`
	Ladders  []Ladder        `json:"ladders"`
	Retests  []Retest        `json:"retests,omitempty"`
	Confirm  *Check          `json:"confirm,omitempty"`

	WorkloadHash string `json:"workload_hash"` // SHA-256, hex, of what is asked and how it is judged
}

// Setting is one value of the matrix.
type Setting struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"` // a string, a number or a bool
}

// Restart says when a server that rung started is started again.
type Restart string

// The times of a restart. After a crash there is one whatever is said.
const (
	RestartLadder Restart = "ladder" // before each ladder: a growing allocator gives nothing back
	RestartCell   Restart = "cell"   // before each cell
	RestartNever  Restart = "never"  // once, for the run
)

// Server is a server that rung starts, or where Command is empty the log of one
// that is attached.
type Server struct {
	Command []string `json:"command,omitempty"`
	Env     []Header `json:"env,omitempty"` // in order of name; a sensitive one has no value here
	Dir     string   `json:"dir,omitempty"` // as written in the spec
	Restart Restart  `json:"restart,omitempty"`
	Ready   Ready    `json:"ready"`
	Grace   Duration `json:"grace"`         // between the request to end and the kill
	Log     string   `json:"log,omitempty"` // of an attached server: the file's path
}

// Ready says when a started server is ready: as soon as it answers a request, and
// before that what is named here, where it is.
type Ready struct {
	Path    string   `json:"path,omitempty"` // a page that answers 200
	Port    int      `json:"port,omitempty"` // that takes a connection
	Log     string   `json:"log,omitempty"`  // a regular expression (RE2) that a line of its output matches
	Timeout Duration `json:"timeout"`
}

// Reuse says what two requests of a prompt have in common.
type Reuse string

// The kinds of reuse.
const (
	Unique Reuse = "unique" // no two share a first block
	Same   Reuse = "same"   // all are one
	Pool   Reuse = "pool"   // each is one of Prompt.Pool
)

// Prompt says what the text of a request is. Its length is in Shape, or in Mix.
type Prompt struct {
	Name        string  `json:"name"`
	Kind        string  `json:"kind,omitempty"`      // what the text is, for the report
	TextFile    string  `json:"text_file,omitempty"` // as written in the spec
	TextHash    string  `json:"text_hash,omitempty"` // SHA-256, hex, of the file's bytes
	Mix         []Share `json:"mix,omitempty"`       // lengths, rising; then Shape.InputTokens is the longest
	Reuse       Reuse   `json:"reuse"`
	Pool        int     `json:"pool,omitempty"`  // distinct prompts, where Reuse is pool
	Exact       bool    `json:"exact,omitempty"` // outputs are exactly as long as asked, where the server can
	Temperature float64 `json:"temperature,omitempty"`
	Stream      bool    `json:"stream,omitempty"`
}

// Share is one length of a mix.
type Share struct {
	Tokens int     `json:"tokens"`
	Share  float64 `json:"share"` // all of a mix sum to 1
}

// Shape is all that the server can tell of a request's size, and how many of
// its kind are in flight beside it.
type Shape struct {
	Batch        int `json:"batch"`                   // inputs in one request
	InputTokens  int `json:"input_tokens"`            // tokens of each input, as the server counts them; of a mix the most
	OutputTokens int `json:"output_tokens,omitempty"` // tokens asked of a generating model; 0 for embeddings
	InFlight     int `json:"in_flight"`               // closed loop: requests in flight; open loop: the most that may be
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
	Settle   *Settle  `json:"settle,omitempty"`   // in place of Cooldown
	Arrivals string   `json:"arrivals,omitempty"` // rate: poisson, constant
	Stop     Stop     `json:"stop"`
}

// Settle is a cool-down that ends when the card is as it was in the baseline, or
// after Timeout.
type Settle struct {
	Timeout     Duration `json:"timeout"`
	Memory      float64  `json:"memory"`      // share of the total by which used memory may be off
	Temperature float64  `json:"temperature"` // degrees Celsius
	Clock       float64  `json:"clock"`       // share of the SM clock
}

// Retest sends a prompt at the candidate limit of a ladder.
type Retest struct {
	Ladder   string `json:"ladder"`
	Prompt   Prompt `json:"prompt"`
	Tokens   int    `json:"tokens"` // of each input; of a mix the most
	Output   int    `json:"output,omitempty"`
	Warmup   int    `json:"warmup"`
	Requests int    `json:"requests"`
}

// Check sends requests at all limits at once.
type Check struct {
	Prompt   Prompt `json:"prompt"`
	Tokens   int    `json:"tokens"` // of each input; of a mix the most
	Output   int    `json:"output,omitempty"`
	Warmup   int    `json:"warmup"`
	Requests int    `json:"requests"`
}

// Rung is one step of a ladder.
type Rung struct {
	Index    int     `json:"index"`
	Value    float64 `json:"value"` // in the axis' unit
	Shape    Shape   `json:"shape"`
	Warmup   int     `json:"warmup"`   // requests at the rung's own shape before its rounds, in each pass
	Rounds   int     `json:"rounds"`   // in each pass
	Requests int     `json:"requests"` // in each round; 0 where Duration says how long it is

	Duration Duration `json:"duration,omitempty"` // of each round: no request is sent after it
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
	Rule            string  `json:"rule"` // power, half_increment, gain_and_p95
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

package plan

import "time"

// Simulator holds the parameters of the built-in simulated server and its GPU.
//
// Embeddings run as one forward at a time over the inputs that wait, at most
// MaxBatch of them (a larger request runs alone), in
//
//	Overhead + max(Floor, tokens·PerToken)
//
// which is the roofline of a card: reading the weights costs Floor whatever the
// batch, and from Floor/PerToken tokens on the arithmetic decides. Chats and
// completions run on Slots at once, each for
//
//	Overhead + max(Floor, input·PerToken) + output·PerOutputToken·(1 + DecodeSlowdown·(running-1))
//
// Noise multiplies each by a factor drawn from the request's own bytes.
//
// Memory is what a growing allocator shows: MemoryIdle, plus MemoryPerToken for
// each token of the largest forward so far (and what MemoryPerInput and MemoryPerPair
// add), never given back. A forward that
// would exceed MemoryTotal fails as CUDA does when it is out of memory.
//
// All below MemoryPerToken is left out of the JSON where it is not used, so that a
// spec which knows nothing of it keeps its hash; a zero there means the default
// that is named.
type Simulator struct {
	Overhead       Duration `json:"overhead"`
	Floor          Duration `json:"floor"`
	PerToken       Duration `json:"per_token"`
	PerOutputToken Duration `json:"per_output_token"`
	Noise          float64  `json:"noise"` // coefficient of variation of the service time
	MaxBatch       int      `json:"max_batch"`
	Slots          int      `json:"slots"`
	MaxInputTokens int      `json:"max_input_tokens"`
	SpecialTokens  int      `json:"special_tokens"` // what its tokeniser adds to each text
	MemoryTotal    int64    `json:"memory_total"`   // bytes
	MemoryIdle     int64    `json:"memory_idle"`
	MemoryPerToken int64    `json:"memory_per_token"`

	// Of generated text.
	DecodeSlowdown float64 `json:"decode_slowdown,omitempty"`  // by how much each further running sequence slows a step
	TokensPerChunk int     `json:"tokens_per_chunk,omitempty"` // of a stream; 1
	AnswerTokens   int     `json:"answer_tokens,omitempty"`    // the model's own end, which ignore_eos and min_tokens put off; none
	EarlyStop      float64 `json:"early_stop,omitempty"`       // share of answers that stop at a third, whatever was asked
	LogChunks      bool    `json:"log_chunks,omitempty"`       // the log has the time of each chunk

	PrefixCache bool `json:"prefix_cache,omitempty"`
	CacheBlock  int  `json:"cache_block,omitempty"` // tokens; 16

	MaxQueue       int `json:"max_queue,omitempty"`        // requests that may wait; no limit
	QueueStatus    int `json:"queue_status,omitempty"`     // of a request beyond it; 429
	MaxClientBatch int `json:"max_client_batch,omitempty"` // inputs in a request; no limit

	Faults []Fault `json:"faults,omitempty"`

	// Preallocate is the share of the memory that is taken at the start, as a pool for
	// tokens. A sequence that finds it full pushes the newest out, to be done again.
	Preallocate    float64 `json:"preallocate,omitempty"`
	FragmentAfter  int     `json:"fragment_after,omitempty"`  // from so many forwards on each leaves FragmentStep behind
	FragmentTokens int     `json:"fragment_tokens,omitempty"` // that have at least so many tokens
	FragmentStep   int64   `json:"fragment_step,omitempty"`
	OOMTokens      int     `json:"oom_tokens,omitempty"`       // a forward above so many fails, whatever the memory
	OOMStatus      int     `json:"oom_status,omitempty"`       // 500
	MemoryPerInput int64   `json:"memory_per_input,omitempty"` // of a forward over texts, beside its tokens'
	MemoryPerPair  int64   `json:"memory_per_pair,omitempty"`  // of two tokens of one input, padded to the forward's longest: attention that holds its scores
	SpillFactor    float64 `json:"spill_factor,omitempty"`     // a forward that exceeds the memory takes the host's and so much longer, and does not fail
	OOMKills       bool    `json:"oom_kills,omitempty"`        // the server is gone then, until it is started again

	ThrottleAt     Duration `json:"throttle_at,omitempty"`    // since the start
	ThrottleFor    Duration `json:"throttle_for,omitempty"`   // to the end
	ThrottleShare  float64  `json:"throttle_share,omitempty"` // of clock and speed that is lost
	IdleClockAfter Duration `json:"idle_clock_after,omitempty"`
	IdleClockDelay Duration `json:"idle_clock_delay,omitempty"` // of the first work after such a silence; 20ms
	Bound          string   `json:"bound,omitempty"`            // what utilisation and power look like: compute

	Compile Duration `json:"compile,omitempty"` // of the first request of each shape

	CountOffset    int     `json:"count_offset,omitempty"`    // tokens that usage has too many
	TokeniseFactor float64 `json:"tokenise_factor,omitempty"` // of the true count, in what /tokenize answers; 1
}

// FaultKind says what goes wrong.
type FaultKind string

// The kinds of fault.
const (
	FaultStreamError  FaultKind = "stream_error"  // 200, an error in the body, and the end as if nothing were
	FaultTruncated    FaultKind = "truncated"     // half an answer, and a clean end
	FaultHang         FaultKind = "hang"          // the headers, and then nothing
	FaultSlowFirst    FaultKind = "slow_first"    // After passes before the work begins
	FaultReset        FaultKind = "reset"         // the connection breaks before any byte
	FaultResetMid     FaultKind = "reset_mid"     // or after half an answer
	FaultStatus       FaultKind = "status"        // Status and Body
	FaultEmptyVectors FaultKind = "empty_vectors" // no vector at all
	FaultOneVector    FaultKind = "one_vector"    // whatever the number of inputs
	FaultZeroVector   FaultKind = "zero_vector"   // the last is all zero
	FaultWrongDims    FaultKind = "wrong_dims"    // the last has a dimension less
	FaultNoUsage      FaultKind = "no_usage"
	FaultRetryAfter   FaultKind = "retry_after"       // 429 with After in its header
	FaultDie          FaultKind = "die"               // the server is gone, until it is started again
	FaultCloseIdle    FaultKind = "client_close_idle" // a connection that was idle for After is closed
	FaultInterference FaultKind = "interference"      // another process: slower by Factor and Memory taken, from At on
)

// Fault is a fault on demand. It falls on the requests that meet all that it sets:
// the same on every run, for Share goes by the request's bytes.
type Fault struct {
	Kind     FaultKind `json:"kind"`
	Share    float64   `json:"share,omitempty"`     // of the requests; all
	Every    int       `json:"every,omitempty"`     // each so-manieth
	From     int       `json:"from,omitempty"`      // the first request that it may fall on, counted from 1
	Times    int       `json:"times,omitempty"`     // how often at most; no limit, but once for die
	AtInputs int       `json:"at_inputs,omitempty"` // requests with so many inputs or more
	AtTokens int       `json:"at_tokens,omitempty"` // likewise by tokens
	Status   int       `json:"status,omitempty"`    // 500
	Body     string    `json:"body,omitempty"`      // or the text of a stream's error
	After    Duration  `json:"after,omitempty"`     // 1s

	At     Duration `json:"at,omitempty"`     // of interference, since the start
	For    Duration `json:"for,omitempty"`    // to the end
	Factor float64  `json:"factor,omitempty"` // 1
	Memory int64    `json:"memory,omitempty"`
}

// FaultKinds lists all.
func FaultKinds() []FaultKind {
	return []FaultKind{FaultStreamError, FaultTruncated, FaultHang, FaultSlowFirst, FaultReset, FaultResetMid, FaultStatus,
		FaultEmptyVectors, FaultOneVector, FaultZeroVector, FaultWrongDims, FaultNoUsage, FaultRetryAfter, FaultDie, FaultCloseIdle, FaultInterference}
}

// DefaultSimulator is what --simulate starts for a spec without a simulator.
func DefaultSimulator() Simulator {
	return Simulator{
		Overhead:       Duration(2 * time.Millisecond),
		Floor:          Duration(10 * time.Millisecond),
		PerToken:       Duration(4 * time.Microsecond),
		PerOutputToken: Duration(time.Millisecond),
		Noise:          0.03,
		MaxBatch:       32,
		Slots:          4,
		MaxInputTokens: 8192,
		SpecialTokens:  2,
		MemoryTotal:    24 << 30,
		MemoryIdle:     4 << 30,
		MemoryPerToken: 256 << 10,
	}
}

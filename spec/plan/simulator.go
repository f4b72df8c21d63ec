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
// batch, and from Floor/PerToken tokens on the arithmetic decides. Chats run on
// Slots at once, each for Overhead + max(Floor, input·PerToken) + output·PerOutputToken.
// Noise multiplies each by a factor drawn from the request's own bytes.
//
// Memory is what a growing allocator shows: MemoryIdle, plus MemoryPerToken for
// each token of the largest forward so far, never given back. A forward that
// would exceed MemoryTotal fails as CUDA does when it is out of memory.
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

package record

// Outcome is the one name for what became of a request.
type Outcome string

// The outcomes.
const (
	OK            Outcome = "ok"
	OOM           Outcome = "oom"
	CUDAError     Outcome = "cuda_error"
	Timeout       Outcome = "timeout"
	RateLimited   Outcome = "rate_limited"   // 429 by a quota
	Unavailable   Outcome = "unavailable"    // 503
	Overloaded    Outcome = "overloaded"     // the server's own queue limit
	Reset         Outcome = "reset"          // the connection broke
	Refused       Outcome = "refused"        // no connection could be made
	TooLong       Outcome = "too_long"       // the input is over a limit of length or batch
	TokenMismatch Outcome = "token_mismatch" // a success whose input tokens are not the planned
	BadResponse   Outcome = "bad_response"   // a 200 that was none
	ServerError   Outcome = "server_error"   // any other 5xx
	ClientError   Outcome = "client_error"   // any other 4xx, or a redirect
	ClientLimited Outcome = "client_limited" // this machine ran out of descriptors or ports
	Cancelled     Outcome = "cancelled"      // by an interrupt
	Dropped       Outcome = "dropped"        // never sent: no place in flight
)

// Outcomes lists all, in the order of the design.
func Outcomes() []Outcome {
	return []Outcome{OK, OOM, CUDAError, Timeout, RateLimited, Unavailable, Overloaded, Reset, Refused, TooLong,
		TokenMismatch, BadResponse, ServerError, ClientError, ClientLimited, Cancelled, Dropped}
}

// ServerFailure says whether the outcome counts against the server: not a
// success, nor a fault of the client, nor a round that must be run again
// because its tokens were off.
func (o Outcome) ServerFailure() bool {
	switch o {
	case OK, TokenMismatch, ClientLimited, Cancelled, Dropped:
		return false
	default:
		return true
	}
}

// Setting names what to look at in the server for an outcome by which it holds back;
// "" for any other. None of them is a matter of memory.
func (o Outcome) Setting() string {
	switch o {
	case Overloaded:
		return "overload, a limit of the server's own queue and not memory: TEI --max-concurrent-requests (it counts inputs), Infinity INFINITY_QUEUE_SIZE"
	case RateLimited:
		return "a quota, the server's or that of what stands before it, and not memory"
	case Unavailable:
		return "the server admits no more, or is not ready, and that is not memory: vLLM --max-num-queued-reqs"
	default:
		return ""
	}
}

// Stage is how far a failed request came.
type Stage string

// The stages.
const (
	StageConnect   Stage = "connect"
	StageFirstByte Stage = "first_byte"
	StageBetween   Stage = "between_bytes"
	StageTotal     Stage = "total" // the time for the whole request was up
)

// Limit is the limit of a server that a request met.
type Limit string

// The limits.
const (
	LimitBatch      Limit = "batch"      // inputs in one request
	LimitPayload    Limit = "payload"    // bytes of the body
	LimitTokens     Limit = "tokens"     // of one input, or of input and output
	LimitCharacters Limit = "characters" // of one input
	LimitSlots      Limit = "slots"      // the context that running requests share
	LimitPhysical   Limit = "ubatch"     // tokens that one forward takes
)

// Setting names what to look at in the server for a limit, flags of several servers
// among it; "" for none.
func (l Limit) Setting() string {
	switch l {
	case LimitBatch:
		return "inputs a request: TEI --max-client-batch-size"
	case LimitPayload:
		return "bytes of a request: TEI --payload-limit"
	case LimitTokens:
		return "the model's context: vLLM --max-model-len, llama.cpp -c, TEI --max-batch-tokens and --auto-truncate"
	case LimitCharacters:
		return "characters of an input, which the server bounds before it tokenises"
	case LimitSlots:
		return "the context is shared by the slots: llama.cpp -c over -np"
	case LimitPhysical:
		return "tokens of a forward: llama.cpp --ubatch-size"
	default:
		return ""
	}
}

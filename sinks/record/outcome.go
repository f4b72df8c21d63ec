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

// Stage is how far a failed request came.
type Stage string

// The stages.
const (
	StageConnect   Stage = "connect"
	StageFirstByte Stage = "first_byte"
	StageBody      Stage = "body"
	StageTotal     Stage = "total"
)

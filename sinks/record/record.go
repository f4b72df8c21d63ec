// Package record is the vocabulary of a run: requests, samples of the GPU,
// events, outcomes, phases and the manifest. It is a leaf: the runner fills it,
// the sinks write it and the report reads it, and none of them needs another.
//
// Times. A point on the run's clock (…TS) is in seconds since the run began, on
// the monotonic clock; Time is the wall clock beside it, for joins with other
// machines only. Spans (…S) are seconds. Memory is in bytes. A nil pointer is
// unknown: nothing that the server or the card did not say is ever filled in.
package record

import (
	"cmp"
	"math"
	"time"
)

// SchemaVersion is the version of the tables' columns.
const SchemaVersion = 2

// Phase says what a request was for.
type Phase string

// The phases.
const (
	Probe    Phase = "probe"    // before the run, to learn what the server takes
	Baseline Phase = "baseline" // one at a time, before the ladders
	Warmup   Phase = "warmup"   // at the shape that follows, recorded and never counted
	Measure  Phase = "measure"  // a ladder's rounds
	Retest   Phase = "retest"   // other text at a limit
	Confirm  Phase = "confirm"  // further rounds at an edge; outside ladders all limits at once
)

// Item is one thing on the runner's ordered stream: exactly one field is set.
type Item struct {
	Request *Request
	Sample  *Sample
	Event   *Event
	Client  *ClientSample
	Server  *ServerSample
	Tick    *Tick
	Draft   *Request
}

// Draft, in an Item, is a request that has come back, or was dropped, before its round
// has its verdict. Its row follows with that; until then the draft is all that a crash
// would leave of it.

// Tick says that a request has ended, for the eyes of whoever waits. It is not
// recorded: the row follows when its round has its verdict.
type Tick struct {
	Place
	TS       float64
	Ended    int // requests of the round so far
	Of       int // requests of the round
	LatencyS float64
	Outcome  Outcome
	Inputs   int
	InFlight int // asked of a closed loop; 0 in an open one
}

// Place says where in the plan a row belongs. Ladder is empty outside ladders.
type Place struct {
	Phase   Phase
	Ladder  string
	Pass    int
	Rung    int     // index
	Value   float64 // the rung's value, in the unit of the ladder's axis
	Round   int
	Attempt int // 0, or how often the round was run before
}

// Compare orders places: by ladder, phase, rung, pass, round and attempt.
func (p Place) Compare(o Place) int {
	return cmp.Or(
		cmp.Compare(p.Ladder, o.Ladder), cmp.Compare(p.Phase, o.Phase), cmp.Compare(p.Rung, o.Rung),
		cmp.Compare(p.Pass, o.Pass), cmp.Compare(p.Round, o.Round), cmp.Compare(p.Attempt, o.Attempt))
}

// Request is one HTTP call, whatever became of it.
type Request struct {
	Place
	ID    string // 16 hex digits, from the seed and the place
	Index int    // in its round

	Time        time.Time // wall clock of the send
	DueTS       float64   // when it was due; in a closed loop when its turn came
	SentTS      float64   // when it had its connection
	FirstByteTS *float64  // first byte of the answer's header
	DoneTS      float64   // last byte, or the failure

	// A stream's: when the first generated token of any channel came, how many chunks
	// had generated text, and the gaps between one and the next. A chunk is not a token.
	FirstTokenTS *float64
	Chunks       *int
	ChunkGapsS   []float64

	GapS *float64 // from the last end of any request to this send, where none was in flight

	InFlight            int // asked of a closed loop; of an open one the most that may be
	Inputs              int // texts in the request
	InputsDone          int // vectors or choices that came back right
	InputTokensPlanned  int // over all inputs
	InputTokens         *int
	OutputTokensPlanned *int // nil for embeddings
	OutputTokens        *int
	CachedTokens        *int // prompt tokens that the server took from its cache
	UsageSource         UsageSource
	FinishReason        string
	BodyBytes           int64
	BodySHA256          string // hex
	ResponseBytes       int64

	// What the server says of its own time with the request, in headers (TEI).
	ServerTotalS, ServerTokenisationS, ServerQueueS, ServerInferenceS *float64

	Outcome      Outcome
	Limit        Limit  // which limit of the server a too_long met, where it said
	Counted      bool   // the analysis uses it
	RejectReason string // why its round does not count; empty where it does
	Status       *int
	RetryAfterS  *float64
	Stage        Stage  // of a timeout or a broken connection
	Error        string // first 2 KiB of the body, or the client's error
	Incident     *int64 // failures of one cause share it
	ConnReused   bool
	ResetIdle    bool // a reset before any answer on a connection that had lain idle; it was sent again
	Protocol     string
}

// Failed says whether the request counts against the server.
func (r Request) Failed() bool { return r.Outcome.ServerFailure() && !r.ResetIdle }

// Sent says whether the request was sent at all.
func (r Request) Sent() bool { return r.Outcome != Dropped }

// UsageSource says where token counts come from.
type UsageSource string

// The sources. Nothing that the server did not say is filled in.
const (
	NoUsage     UsageSource = "none"
	BodyUsage   UsageSource = "usage"  // the answer's usage
	HeaderUsage UsageSource = "header" // TEI's x-compute-tokens
)

// Times are when it was due, sent and done.
func (r *Request) Times() Times {
	if !r.Sent() {
		return Times{r.DueTS, math.NaN(), math.NaN()}
	}
	return Times{r.DueTS, r.SentTS, r.DoneTS}
}

// Gift is what the request gave.
func (r *Request) Gift() Gift {
	return Gift{OK: r.Outcome == OK, Inputs: r.InputsDone, Tokens: r.OutputTokens}
}

// LatencyS is the span from due to done, in seconds; NaN for what was never sent.
func (r Request) LatencyS() float64 { return r.Times().LatencyS() }

// TTFTS is the time to first token, from due to the first generated token of any
// channel, in seconds; NaN where no token was seen to come.
func (r Request) TTFTS() float64 {
	if r.FirstTokenTS == nil {
		return math.NaN()
	}
	return *r.FirstTokenTS - r.DueTS
}

// TPOTS is the time per output token after the first, in seconds:
// (latency - TTFT) / (output tokens - 1). It is NaN below two tokens and where the
// server did not count them.
func (r Request) TPOTS() float64 {
	return TPOT(r.LatencyS(), r.TTFTS(), r.OutputTokens)
}

// TPOT is the time per output token after the first, see Request.TPOTS.
func TPOT(latencyS, ttftS float64, outputTokens *int) float64 {
	if outputTokens == nil || *outputTokens < 2 {
		return math.NaN()
	}
	return (latencyS - ttftS) / float64(*outputTokens-1)
}

// ServiceS is the span from sent to done, in seconds; NaN for what was never sent.
func (r Request) ServiceS() float64 {
	if !r.Sent() {
		return math.NaN()
	}
	return r.DoneTS - r.SentTS
}

// Sample is one reading of one device.
type Sample struct {
	Place             // what was going on; Phase is empty between phases
	Time    time.Time // wall clock
	TS      float64
	LateS   float64 // behind its schedule
	Forced  bool    // taken at a rung's end, beside the schedule
	Device  int
	UUID    string
	Name    string
	MemCall string // which call or model gave the memory: "v2", "v1", "nvidia-smi", "dcgm", "simulated"

	MemTotalBytes    *int64
	MemUsedBytes     *int64
	MemFreeBytes     *int64
	MemReservedBytes *int64
	UtilGPUPct       *float64
	UtilMemPct       *float64
	UtilSamplesPct   []float64 // the driver's own finer samples of utilisation since the sample before, in order
	PowerW           *float64
	TemperatureC     *float64
	SMClockMHz       *float64
	MemClockMHz      *float64
	EnergyJ          *float64 // since the driver was loaded
	ThrottleReasons  *int64   // NVML's bits
	Processes        []int64  // pids that compute on the device; empty where none is seen, as in many containers
}

// ClientSample is one reading of the instrument itself.
type ClientSample struct {
	Place
	Time time.Time
	TS   float64

	CPUPct      float64 // of the cores that it may use, since the sample before
	GCPauseS    float64 // since the sample before
	StallS      float64 // the longest that one of its own timers was late
	WallStepS   float64 // by which the wall clock stepped
	Goroutines  int
	MemoryBytes int64
	Descriptors *int
	Limit       *int64 // of descriptors
	InFlight    int
}

// EventKind says what happened.
type EventKind string

// The kinds of event. A begin and its end carry the same place.
const (
	RunBegin     EventKind = "run_begin"
	RunEnd       EventKind = "run_end"
	Resumed      EventKind = "resumed"     // Reason: the gap since what was recorded before
	PhaseBegin   EventKind = "phase_begin" // probe, baseline (idle), ...
	PhaseEnd     EventKind = "phase_end"
	IdleBegin    EventKind = "idle_begin" // nothing is sent: what the loaded model holds by itself
	IdleEnd      EventKind = "idle_end"
	LadderBegin  EventKind = "ladder_begin"
	LadderEnd    EventKind = "ladder_end" // Reason: why it ended
	PassBegin    EventKind = "pass_begin"
	PassEnd      EventKind = "pass_end"
	RungBegin    EventKind = "rung_begin" // first warm-up send
	RungEnd      EventKind = "rung_end"   // last end, and one sampling interval
	RoundBegin   EventKind = "round_begin"
	RoundEnd     EventKind = "round_end" // Verdict, WindowS, WallS, MeanInFlight
	EdgeFound    EventKind = "edge"      // Reason
	Warning      EventKind = "warning"
	Interrupted  EventKind = "interrupted"
	GPULost      EventKind = "gpu_lost"
	SettleBegin  EventKind = "settle_begin"
	SettleEnd    EventKind = "settle_end"    // Reason: how it ended
	RestartBegin EventKind = "restart_begin" // Reason: why the server is started again
	RestartEnd   EventKind = "restart_end"   // Reason: why it is not ready; empty where it is
	ClockStep    EventKind = "clock_step"    // Reason: by how much the wall clock stepped
	MetricsLost  EventKind = "metrics_lost"  // Reason: why the server's page of metrics can't be read
	MetricsBack  EventKind = "metrics_back"

	// Lines of the server's log that explain something; Reason: the line.
	LogQueue   EventKind = "log_queue"   // requests wait, or were put back
	LogRefused EventKind = "log_refused" // a request was refused
	LogBatch   EventKind = "log_batch"   // what the server works on at once
	LogOOM     EventKind = "log_oom"     // memory ran out
	LogFault   EventKind = "log_fault"   // the server, or a part of it, broke
	LogSetting EventKind = "log_setting" // it took another setting than it was given
)

// EventKinds lists all.
func EventKinds() []EventKind {
	return []EventKind{RunBegin, RunEnd, Resumed, PhaseBegin, PhaseEnd, IdleBegin, IdleEnd, LadderBegin, LadderEnd, PassBegin, PassEnd,
		RungBegin, RungEnd, RoundBegin, RoundEnd, EdgeFound, Warning, Interrupted, GPULost,
		SettleBegin, SettleEnd, RestartBegin, RestartEnd, ClockStep, MetricsLost, MetricsBack,
		LogQueue, LogRefused, LogBatch, LogOOM, LogFault, LogSetting}
}

// Verdict is what became of a round.
type Verdict string

// The verdicts.
const (
	Accepted Verdict = "accepted"
	Rejected Verdict = "rejected" // Reason says why; its rows stay, not counted
)

// Event is one mark on the run's clock.
type Event struct {
	Place
	Time time.Time
	TS   float64
	Kind EventKind

	Verdict      Verdict // round_end
	Reason       string
	WindowS      *float64 // round_end: the steady window's length
	WallS        *float64 // round_end: first send to last end
	MeanInFlight *float64 // round_end
	OK           *int     // round_end: successes
	Failed       *int     // round_end
}

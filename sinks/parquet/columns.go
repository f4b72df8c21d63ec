package parquet

import (
	"strings"

	"rung/sinks/record"
)

// table is one of the run's tables: its folder's name and its columns.
type table[T any] struct {
	name    string
	meaning string
	columns []column[T]
	group   func(*T) group // which part an item belongs in
	size    func(*T) int   // bytes that an item takes in memory, roughly
}

// scope is how far a place is known: an event of a whole ladder has no rung.
type scope int

const (
	nowhere scope = iota
	inLadder
	inPass
	inRung
	inRound
)

type (
	requestRow = row[record.Request]
	sampleRow  = row[record.Sample]
	eventRow   = row[record.Event]
)

// runColumn says of which run a row is.
const runColumn = "run_id"

// identityColumns say whose row it is, in every table.
func identityColumns[T any]() []column[T] {
	return []column[T]{
		text("experiment", "name of the experiment", func(r *row[T]) *string { return &r.id.Experiment }),
		text(runColumn, "name of the run's folder", func(r *row[T]) *string { return &r.id.RunID }),
		text("cell", "combination of the matrix; null without a matrix", func(r *row[T]) *string { return &r.id.Cell }),
	}
}

// placeColumns say where in the plan a row belongs. Outside ladders there is no rung;
// a round and its attempts there are as well.
func placeColumns[T any](at func(*row[T]) *record.Place, reach func(*row[T]) scope) []column[T] {
	from := func(s scope) func(*row[T]) bool { return func(r *row[T]) bool { return reach(r) >= s } }
	on := func(s scope) func(*row[T]) bool {
		return func(r *row[T]) bool { return reach(r) >= s && at(r).Ladder != "" }
	}
	return []column[T]{
		text("phase", "probe, baseline, warmup, measure, retest, confirm; null between phases", func(r *row[T]) *record.Phase { return &at(r).Phase }),
		text("ladder", "label of the ladder; null outside ladders", func(r *row[T]) *string { return &at(r).Ladder }),
		whole("pass", "", "walk along the ladder, from 0", func(r *row[T]) *int { return &at(r).Pass }).when(on(inPass)),
		whole("rung_index", "", "rung of the ladder, from 0", func(r *row[T]) *int { return &at(r).Rung }).when(on(inRung)),
		number("rung_value", "the axis' unit", "value of the rung", func(r *row[T]) *float64 { return &at(r).Value }).when(on(inRung)),
		whole("round", "", "round at the rung, in its pass, from 0", func(r *row[T]) *int { return &at(r).Round }).when(from(inRound)),
		whole("attempt", "", "times that the round had been run before", func(r *row[T]) *int { return &at(r).Attempt }).when(from(inRound)),
	}
}

// inLadders is the reach of rows that are always those of a round, or of none.
func inLadders(p *record.Place) scope {
	if p.Ladder == "" && (p.Phase == "" || p.Phase == record.Probe) {
		return nowhere
	}
	return inRound
}

// eventScope is how far the place of an event is known.
func eventScope(e *record.Event) scope {
	switch {
	case e.Ladder != "":
	case e.Kind == record.RoundBegin, e.Kind == record.RoundEnd:
		return inRound
	default:
		return nowhere
	}
	switch e.Kind {
	case record.LadderBegin, record.LadderEnd:
		return inLadder
	case record.PassBegin, record.PassEnd:
		return inPass
	case record.RungBegin, record.RungEnd, record.EdgeFound:
		return inRung
	default:
		return inRound
	}
}

func requests() table[record.Request] {
	type r = *requestRow
	reach := func(q r) scope { return inLadders(&q.v.Place) }
	cols := identityColumns[record.Request]()
	cols = append(cols, placeColumns(func(q r) *record.Place { return &q.v.Place }, reach)...)
	cols = append(cols, requestColumns()...)
	cols = append(cols, timeColumns()...)
	cols = append(cols, workColumns()...)
	cols = append(cols, answerColumns()...)
	return table[record.Request]{
		name: "requests", meaning: "a row a request: warm-ups, failures and refused rounds too",
		columns: cols,
		group:   func(q *record.Request) group { return groupOf(&q.Place) },
		size:    func(q *record.Request) int { return 560 + len(q.Error) + len(q.RejectReason) + 8*len(q.ChunkGapsS) },
	}
}

func requestColumns() []column[record.Request] {
	type r = *requestRow
	return []column[record.Request]{
		whole("request_index", "", "the request's number in its round, or among the warm-ups, from 0", func(q r) *int { return &q.v.Index }),
		text("request_id", "name of the request, from the seed and its place", func(q r) *string { return &q.v.ID }).distinct(),
		text("outcome", "the one name for what became of it: "+names(record.Outcomes()), func(q r) *record.Outcome { return &q.v.Outcome }),
		boolean("counted", "the analysis uses the row's round", func(q r) *bool { return &q.v.Counted }),
		text("reject_reason", "why the row's round does not count; null where it does", func(q r) *string { return &q.v.RejectReason }),
	}
}

func timeColumns() []column[record.Request] {
	type r = *requestRow
	sent := func(q r) bool { return q.v.Sent() }
	return []column[record.Request]{
		instant("time", "wall clock of the send, for joins with other machines; null where it was never sent", func(q r) *wall { return &q.v.Time }).when(sent),
		number("t_s", "s", "sent, since the run began, on the monotonic clock: from when it had its connection; null where it never was", func(q r) *float64 { return &q.v.SentTS }).when(sent),
		number("due_t_s", "s", "due, since the run began; in a closed loop when its turn came", func(q r) *float64 { return &q.v.DueTS }),
		numberOrNull("first_byte_t_s", "s", "first byte of the answer's header, since the run began", func(q r) **float64 { return &q.v.FirstByteTS }),
		number("done_t_s", "s", "last byte or failure, since the run began", func(q r) *float64 { return &q.v.DoneTS }).when(sent),
		numberOrNull("first_token_t_s", "s", "first generated token of any channel of a stream, since the run began", func(q r) **float64 { return &q.v.FirstTokenTS }),
		derived("latency_s", "s", "from due to done", func(q r) float64 { return q.v.LatencyS() }).by("done_t_s - due_t_s"),
		derived("service_s", "s", "from sent to done", func(q r) float64 { return q.v.ServiceS() }).by("done_t_s - t_s"),
		derived("lateness_s", "s", "from due to sent: the instrument's own delay", func(q r) float64 { return q.v.SentTS - q.v.DueTS }).when(sent).by("t_s - due_t_s"),
		derived("ttft_s", "s", "time to first token; null where none was seen to come", func(q r) float64 { return q.v.TTFTS() }).by("first_token_t_s - due_t_s"),
		derived("tpot_s", "s", "time per output token after the first; null below two tokens", func(q r) float64 { return q.v.TPOTS() }).
			by("(latency_s - ttft_s) / (output_tokens - 1)"),
		wholeOrNull("chunks", "", "chunks of a stream with generated text; a chunk is not a token", func(q r) **int { return &q.v.Chunks }),
		numbers("chunk_gap_s", "s", "gaps between the chunks of a stream with generated text, in order", func(q r) *[]float64 { return &q.v.ChunkGapsS }),
		numberOrNull("gap_s", "s", "since the last end of any request, where none was in flight at the send", func(q r) **float64 { return &q.v.GapS }),
	}
}

func workColumns() []column[record.Request] {
	type r = *requestRow
	return []column[record.Request]{
		whole("in_flight", "", "requests in flight that a closed loop was asked for; in an open one the most that may be", func(q r) *int { return &q.v.InFlight }),
		whole("inputs", "", "texts in the request", func(q r) *int { return &q.v.Inputs }),
		whole("inputs_done", "", "vectors or choices that came back right", func(q r) *int { return &q.v.InputsDone }),
		whole("input_tokens_planned", "tokens", "planned, over all inputs of the request", func(q r) *int { return &q.v.InputTokensPlanned }),
		wholeOrNull("input_tokens", "tokens", "as the server counted them; null where it did not say", func(q r) **int { return &q.v.InputTokens }),
		wholeOrNull("output_tokens_planned", "tokens", "asked of a generating model; null for embeddings", func(q r) **int { return &q.v.OutputTokensPlanned }),
		wholeOrNull("output_tokens", "tokens", "as the server counted them; null where it did not say", func(q r) **int { return &q.v.OutputTokens }),
		wholeOrNull("cached_tokens", "tokens", "prompt tokens that the server took from its cache; null where it did not say", func(q r) **int { return &q.v.CachedTokens }),
		text("usage_source", "where the counts come from: usage (the answer's), header, none", func(q r) *record.UsageSource { return &q.v.UsageSource }),
		text("finish_reason", "why the generation ended, as the server says", func(q r) *string { return &q.v.FinishReason }),
		whole("body_bytes", "bytes", "length of the request's body", func(q r) *int64 { return &q.v.BodyBytes }),
		text("body_sha256", "SHA-256 of the request's body, hex", func(q r) *string { return &q.v.BodySHA256 }).distinct(),
		whole("response_bytes", "bytes", "length of the answer's body as it was read", func(q r) *int64 { return &q.v.ResponseBytes }),
	}
}

func answerColumns() []column[record.Request] {
	type r = *requestRow
	return []column[record.Request]{
		wholeOrNull("status", "", "HTTP status; null where no answer came", func(q r) **int { return &q.v.Status }),
		numberOrNull("retry_after_s", "s", "the answer's Retry-After", func(q r) **float64 { return &q.v.RetryAfterS }),
		text("limit", "the server's limit that a too_long met, where it said: batch, payload, tokens, characters, slots, ubatch", func(q r) *record.Limit { return &q.v.Limit }),
		text("stage", "how far a failed request came: connect, first_byte, between_bytes; total where the time for the whole was up", func(q r) *record.Stage { return &q.v.Stage }),
		text("error", "the first 2 KiB of a failure's body, or the client's error", func(q r) *string { return &q.v.Error }),
		wholeOrNull("incident", "", "failures of one cause share it", func(q r) **int64 { return &q.v.Incident }),
		boolean("conn_reused", "an open connection was used again", func(q r) *bool { return &q.v.ConnReused }),
		boolean("reset_idle", "a reset before any answer on a connection that had lain idle: sent again, and in no stop rule and no ratio", func(q r) *bool { return &q.v.ResetIdle }),
		text("protocol", "of the answer", func(q r) *string { return &q.v.Protocol }),
		numberOrNull("server_total_s", "s", "the server's own time with the request, by its headers", func(q r) **float64 { return &q.v.ServerTotalS }),
		numberOrNull("server_tokenization_s", "s", "of which tokenising", func(q r) **float64 { return &q.v.ServerTokenisationS }),
		numberOrNull("server_queue_s", "s", "of which waiting in its queue", func(q r) **float64 { return &q.v.ServerQueueS }),
		numberOrNull("server_inference_s", "s", "of which the model's work", func(q r) **float64 { return &q.v.ServerInferenceS }),
	}
}

func samples() table[record.Sample] {
	type r = *sampleRow
	reach := func(s r) scope { return inLadders(&s.v.Place) }
	cols := identityColumns[record.Sample]()
	cols = append(cols, placeColumns(func(s r) *record.Place { return &s.v.Place }, reach)...)
	cols = append(cols,
		instant("time", "wall clock of the reading, for joins with other machines", func(s r) *wall { return &s.v.Time }),
		number("t_s", "s", "since the run began, on the monotonic clock", func(s r) *float64 { return &s.v.TS }),
		number("late_s", "s", "behind its schedule", func(s r) *float64 { return &s.v.LateS }),
		boolean("forced", "taken at a rung's end, beside the schedule", func(s r) *bool { return &s.v.Forced }),
		whole("device", "", "index of the device as its driver counts", func(s r) *int { return &s.v.Device }),
		text("uuid", "the device's own name, the same in every container", func(s r) *string { return &s.v.UUID }),
		text("name", "model of the device", func(s r) *string { return &s.v.Name }),
		text("mem_call", "which call gave the memory: v2, v1 (used includes reserved), nvidia-smi, dcgm, simulated", func(s r) *string { return &s.v.MemCall }))
	return table[record.Sample]{
		name: SampleTable, meaning: "a row a sample and device",
		columns: append(cols, gaugeColumns()...),
		group:   func(s *record.Sample) group { return groupOf(&s.Place) },
		size:    func(*record.Sample) int { return 480 },
	}
}

func gaugeColumns() []column[record.Sample] {
	type r = *sampleRow
	return []column[record.Sample]{
		wholeOrNull("mem_total_bytes", "bytes", "memory of the device", func(s r) **int64 { return &s.v.MemTotalBytes }),
		wholeOrNull("mem_used_bytes", "bytes", "memory in use, by any process", func(s r) **int64 { return &s.v.MemUsedBytes }),
		wholeOrNull("mem_free_bytes", "bytes", "memory free", func(s r) **int64 { return &s.v.MemFreeBytes }),
		wholeOrNull("mem_reserved_bytes", "bytes", "memory that the driver keeps", func(s r) **int64 { return &s.v.MemReservedBytes }),
		numberOrNull("util_gpu_pct", "%", "time in which some kernel ran", func(s r) **float64 { return &s.v.UtilGPUPct }),
		numbers("util_gpu_samples_pct", "%", "the driver's own finer samples of util_gpu_pct since the sample before, in order; null where it took none", func(s r) *[]float64 { return &s.v.UtilSamplesPct }),
		numberOrNull("util_mem_pct", "%", "time in which memory was read or written", func(s r) **float64 { return &s.v.UtilMemPct }),
		numberOrNull("power_w", "W", "power drawn", func(s r) **float64 { return &s.v.PowerW }),
		numberOrNull("temperature_c", "°C", "temperature", func(s r) **float64 { return &s.v.TemperatureC }),
		numberOrNull("sm_clock_mhz", "MHz", "clock of the multiprocessors", func(s r) **float64 { return &s.v.SMClockMHz }),
		numberOrNull("mem_clock_mhz", "MHz", "clock of the memory", func(s r) **float64 { return &s.v.MemClockMHz }),
		numberOrNull("energy_j", "J", "energy since the driver was loaded", func(s r) **float64 { return &s.v.EnergyJ }),
		wholeOrNull("throttle_reasons", "", "bits as NVML gives them: why clocks are below their most", func(s r) **int64 { return &s.v.ThrottleReasons }),
		wholes("processes", "pids that compute on the device; null where none is seen, as in many containers", func(s r) *[]int64 { return &s.v.Processes }),
	}
}

func clients() table[record.ClientSample] {
	type r = *row[record.ClientSample]
	reach := func(c r) scope { return inLadders(&c.v.Place) }
	cols := identityColumns[record.ClientSample]()
	cols = append(cols, placeColumns(func(c r) *record.Place { return &c.v.Place }, reach)...)
	return table[record.ClientSample]{
		name: "client", meaning: "a row a sample of the instrument itself",
		columns: append(cols,
			instant("time", "wall clock, for joins with other machines", func(c r) *wall { return &c.v.Time }),
			number("t_s", "s", "since the run began, on the monotonic clock", func(c r) *float64 { return &c.v.TS }),
			number("cpu_pct", "%", "of the cores that rung may use, since the sample before", func(c r) *float64 { return &c.v.CPUPct }),
			number("gc_pause_s", "s", "in which the garbage collector held all of it, since the sample before", func(c r) *float64 { return &c.v.GCPauseS }),
			number("stall_s", "s", "the longest that one of its own timers was late, since the sample before", func(c r) *float64 { return &c.v.StallS }),
			number("wall_step_s", "s", "by which the wall clock stepped against the monotonic one, since the sample before", func(c r) *float64 { return &c.v.WallStepS }),
			whole("goroutines", "", "of rung", func(c r) *int { return &c.v.Goroutines }),
			whole("memory_bytes", "bytes", "that rung's runtime has from the system", func(c r) *int64 { return &c.v.MemoryBytes }),
			wholeOrNull("descriptors", "", "open files and connections of rung; null where the system does not say", func(c r) **int { return &c.v.Descriptors }),
			wholeOrNull("descriptors_limit", "", "that rung may have open; null where there is no limit", func(c r) **int64 { return &c.v.Limit }),
			whole("in_flight", "", "requests in flight at that moment", func(c r) *int { return &c.v.InFlight })),
		group: func(c *record.ClientSample) group { return groupOf(&c.Place) },
		size:  func(*record.ClientSample) int { return 320 },
	}
}

func events() table[record.Event] {
	type r = *eventRow
	reach := func(e r) scope { return eventScope(e.v) }
	cols := identityColumns[record.Event]()
	cols = append(cols, placeColumns(func(e r) *record.Place { return &e.v.Place }, reach)...)
	return table[record.Event]{
		name: "events", meaning: "a row a begin, end, verdict or warning",
		columns: append(cols,
			instant("time", "wall clock, for joins with other machines", func(e r) *wall { return &e.v.Time }),
			number("t_s", "s", "since the run began, on the monotonic clock", func(e r) *float64 { return &e.v.TS }),
			text("kind", "what happened: "+names(record.EventKinds()), func(e r) *record.EventKind { return &e.v.Kind }),
			text("verdict", "of a round that ended: accepted, rejected", func(e r) *record.Verdict { return &e.v.Verdict }),
			text("reason", "why", func(e r) *string { return &e.v.Reason }),
			numberOrNull("window_s", "s", "length of the round's steady window", func(e r) **float64 { return &e.v.WindowS }).
				by("last send - first send; last end - first send with one request in flight"),
			numberOrNull("wall_s", "s", "from the round's first send to its last end", func(e r) **float64 { return &e.v.WallS }),
			numberOrNull("mean_in_flight", "", "requests in flight, the mean over the steady window", func(e r) **float64 { return &e.v.MeanInFlight }).
				by("summed spans (sent to done) of all requests inside the window / window_s"),
			wholeOrNull("ok", "", "successes in the round", func(e r) **int { return &e.v.OK }),
			wholeOrNull("failed", "", "failures in the round", func(e r) **int { return &e.v.Failed })),
		group: groupOfEvent,
		size:  func(e *record.Event) int { return 320 + len(e.Reason) },
	}
}

// names lists the values of an enumeration, for the schema.
func names[T ~string](values []T) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return strings.Join(out, ", ")
}

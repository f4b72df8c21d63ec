// Package rows holds the requests of a run in little memory, sorted by where in the plan
// they belong: a report goes over all of them many times, and a run may have millions.
//
// Most of what a request has, it has in common with those beside it. That is kept once, as
// a Kind; a row of its own has its times and the number of its kind. What no report looks
// at is not kept.
package rows

import (
	"math"

	"rung/sinks/record"
)

// Kind is what many requests have in common. For the fields see record.Request.
type Kind struct {
	Value float64 // of the rung, see record.Place

	InFlight, Inputs, InputsDone, InputTokensPlanned             int
	InputTokens, OutputTokensPlanned, OutputTokens, CachedTokens *int

	FinishReason string
	Outcome      record.Outcome
	Limit        record.Limit
	Incident     *int64 // of what met a limit of the server; else nil
	Counted      bool
	RejectReason string
	Status       *int
	ResetIdle    bool
}

// Columns are those of the table requests that a Table is made from.
func Columns() []string {
	return []string{
		"phase", "ladder", "pass", "rung_index", "rung_value", "round", "attempt", "request_index",
		"due_t_s", "t_s", "done_t_s", "first_token_t_s", "chunk_gap_s",
		"in_flight", "inputs", "inputs_done", "input_tokens_planned",
		"input_tokens", "output_tokens_planned", "output_tokens", "cached_tokens",
		"finish_reason", "outcome", "limit", "incident", "counted", "reject_reason", "status", "reset_idle", "error",
	}
}

// Failed says whether the request counts against the server.
func (k *Kind) Failed() bool { return k.Outcome.ServerFailure() && !k.ResetIdle }

// Row is one request. For the fields see record.Request.
type Row struct {
	*Kind
	record.Times

	FirstTokenTS float64   // NaN where no token was seen to come
	ChunkGapsS   []float64 // shared with the table
}

// TTFTS is the time to first token, see record.Request.
func (r Row) TTFTS() float64 { return r.FirstTokenTS - r.DueTS }

// TPOTS is the time per output token after the first, see record.Request.
func (r Row) TPOTS() float64 { return record.TPOT(r.LatencyS(), r.TTFTS(), r.OutputTokens) }

// Gift is what the request gave.
func (r Row) Gift() record.Gift {
	return record.Gift{OK: r.Outcome == record.OK, Inputs: r.InputsDone, Tokens: r.OutputTokens}
}

// kindOf takes from a request what it may have in common with others. A value that is no
// number would be like no other, itself included.
func kindOf(q *record.Request) Kind {
	k := Kind{
		Value:    q.Value,
		InFlight: q.InFlight, Inputs: q.Inputs, InputsDone: q.InputsDone, InputTokensPlanned: q.InputTokensPlanned,
		InputTokens: q.InputTokens, OutputTokensPlanned: q.OutputTokensPlanned, OutputTokens: q.OutputTokens, CachedTokens: q.CachedTokens,
		FinishReason: q.FinishReason, Outcome: q.Outcome, Limit: q.Limit, Counted: q.Counted, RejectReason: q.RejectReason,
		Status: q.Status, ResetIdle: q.ResetIdle,
	}
	if q.Limit != "" {
		k.Incident = q.Incident
	}
	if math.IsNaN(k.Value) {
		k.Value = 0
	}
	return k
}

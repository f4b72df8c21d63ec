package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

// call is one request whose bytes exist.
type call struct {
	id   string
	body []byte
	sum  string // SHA-256, hex

	index  int // in its round
	tokens int // planned, over all inputs
	stream bool
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// dimension holds the vectors of a run to one length.
type dimension struct {
	mu sync.Mutex
	n  int
}

// check says what is wrong with a success's dimension, or "". The first one sets
// it; 0 is an answer without vectors.
func (d *dimension) check(n int) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.n == 0 {
		d.n = n
	}
	if n != 0 && n != d.n {
		return fmt.Sprintf("vectors of %d dimensions, those before in this run had %d", n, d.n)
	}
	return ""
}

// row puts a reply and what was read in it on the run's clock.
func (p *Prepared) row(place record.Place, index int, shape plan.Shape, c call, r target.Reply, a target.Answer) record.Request {
	if a.Outcome == record.OK { // what failed must not set the dimension for the run
		if why := p.dims.check(a.Dimensions); why != "" {
			a.Outcome, a.Error = record.BadResponse, why
		}
	}
	row := record.Request{
		Place: place, ID: c.id, Index: index,
		Time: r.Sent, DueTS: p.clock.at(r.Begun), SentTS: p.clock.at(r.Sent), DoneTS: p.clock.at(r.Done),
		InFlight: shape.InFlight, Inputs: shape.Batch, InputsDone: a.InputsDone,
		InputTokensPlanned: c.tokens, InputTokens: a.InputTokens,
		OutputTokens: a.OutputTokens, CachedTokens: a.CachedTokens, UsageSource: a.UsageSource,
		FinishReason: a.FinishReason, Chunks: a.Chunks, ChunkGapsS: a.GapsS,
		ServerTotalS: a.Timings.TotalS, ServerTokenisationS: a.Timings.TokenisationS, ServerQueueS: a.Timings.QueueS, ServerInferenceS: a.Timings.InferenceS,
		BodyBytes: int64(len(c.body)), BodySHA256: c.sum, ResponseBytes: int64(len(r.Body)),
		Outcome: a.Outcome, RetryAfterS: a.RetryAfterS, Limit: a.Limit, Error: a.Error, ConnReused: r.Reused, Protocol: r.Protocol,
	}
	if !r.FirstByte.IsZero() {
		t := p.clock.at(r.FirstByte)
		row.FirstByteTS = &t
	}
	if !a.FirstToken.IsZero() {
		t := p.clock.at(a.FirstToken)
		row.FirstTokenTS = &t
	}
	if r.Status != 0 {
		status := r.Status
		row.Status = &status
	}
	if shape.OutputTokens > 0 {
		n := shape.OutputTokens
		row.OutputTokensPlanned = &n
	}
	if r.Err != nil {
		row.Stage = r.Stage
	}
	return row
}

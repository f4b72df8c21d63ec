package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Key names one request of a run. No two requests of a run share one, also
// where a round is run again (attempt), so whatever is drawn from it is unique.
type Key struct {
	Phase   string // record.Phase
	Ladder  string // empty in the baseline and for probes
	Pass    int
	Rung    int
	Round   int
	Attempt int
	Index   int // the request's number in its round, or among the warm-ups
}

// Draw gives the seed of one input of a request: a pure function of the
// experiment's seed and the key.
func (p Plan) Draw(k Key, input int) [32]byte {
	return sha256.Sum256(fmt.Appendf(nil, "rung/%d seed=%d %q %q %d %d %d %d %d input=%d",
		Format, p.Seed, k.Phase, k.Ladder, k.Pass, k.Rung, k.Round, k.Attempt, k.Index, input))
}

// ID is the short name of a request in the tables: 16 hex digits.
func (p Plan) ID(k Key) string {
	sum := p.Draw(k, -1)
	return fmt.Sprintf("%016x", binary.BigEndian.Uint64(sum[:8]))
}

// Package pace says when something is due. A Pacer does so for the requests of an open
// loop and has no clock: the offset of a request is a pure function of the rate, the seed
// and its number, so that one that is sent late moves none that follows. Every and Sleep
// keep such times.
package pace

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Pacer gives the offsets, from the round's begin, at which requests are due.
type Pacer struct {
	rate   float64    // a second
	random *rand.Rand // nil: evenly spaced
	n      int
	at     float64 // seconds
}

// New makes a pacer of rate requests a second. arrivals is "constant", evenly
// spaced from 0 on, or "poisson": independent gaps, exponentially distributed with
// the mean 1/rate (Kingman, "Poisson Processes", 1993), all from the seed.
func New(arrivals string, rate float64, seed [32]byte) (*Pacer, error) {
	p := &Pacer{rate: rate}
	switch arrivals {
	case "constant":
	case "poisson":
		p.random = rand.New(rand.NewChaCha8(seed))
	default:
		return nil, fmt.Errorf("arrivals %q are neither constant nor poisson", arrivals)
	}
	return p, nil
}

// Next is the offset of the next request.
func (p *Pacer) Next() time.Duration {
	if p.random == nil {
		p.at = float64(p.n) / p.rate // not a sum, whose error would grow
	} else {
		p.at += p.random.ExpFloat64() / p.rate
	}
	p.n++
	return time.Duration(p.at * float64(time.Second))
}

// Until lists the offsets below a length, at most so many.
func (p *Pacer) Until(length time.Duration, most int) []time.Duration {
	var out []time.Duration
	for at := p.Next(); at < length && len(out) < most; at = p.Next() {
		out = append(out, at)
	}
	return out
}

package results

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"rung/spec/plan"
)

const (
	sharePasses = 3    // below, no share: drift between passes is unseen
	wordPasses  = 5    // below, the share without a word
	allPasses   = 7    // up to here all multisets are weighed; above, draws
	draws       = 2000 // seeded
	heldBySet   = 0.90
)

// resample gives the answers of a rule on whole passes drawn with replacement and
// the share of the weight of each, the weightiest first. Passes, not requests:
// what makes two walks differ (clocks, caches, a neighbour) is the same within one.
func resample(r rule, k plan.Knee, c curve) []Weighted {
	shares := map[string]float64{}
	n := len(c.x)
	answer := func(weight float64, passes []int) {
		s := c
		s.x, s.p95 = nil, nil
		for _, p := range passes {
			s.x, s.p95 = append(s.x, c.x[p]), append(s.p95, c.p95[p])
		}
		shares[r(k, s).name(s)] += weight
	}
	if n <= allPasses {
		multisets(n, answer)
	} else {
		rng := rand.New(rand.NewPCG(uint64(n), draws))
		passes := make([]int, n)
		for range draws {
			for i := range passes {
				passes[i] = rng.IntN(n)
			}
			answer(1.0/draws, passes)
		}
	}
	out := make([]Weighted, 0, len(shares))
	for name, share := range shares {
		out = append(out, Weighted{name, min(1, share)}) // a sum of fractions may end a hair above
	}
	slices.SortFunc(out, func(a, b Weighted) int {
		return cmp.Or(-cmp.Compare(a.Share, b.Share), strings.Compare(a.Answer, b.Answer))
	})
	return out
}

// multisets visits each multiset of n out of n passes once, with the probability
// that n draws with replacement give it: n!/(m1!·m2!·…) / n^n.
func multisets(n int, visit func(weight float64, passes []int)) {
	passes := make([]int, n)
	var fill func(at, least, run int, weight float64)
	fill = func(at, least, run int, weight float64) {
		if at == n {
			visit(weight, passes)
			return
		}
		for p := least; p < n; p++ {
			times := 1
			if at > 0 && passes[at-1] == p {
				times = run + 1
			}
			passes[at] = p
			fill(at+1, p, times, weight*float64(at+1)/float64(times)/float64(n))
		}
	}
	fill(0, 0, 0, 1)
}

// judge fills in how sure a knee is.
func (k *Knee) judge(answers []Weighted, name string) {
	if k.Passes < sharePasses {
		k.Sure = fmt.Sprintf("drift unseen: %s of the ladder, and a share needs %d", count(k.Passes, "pass", "passes"), sharePasses)
		return
	}
	share, held := 0.0, 0.0
	for _, a := range answers {
		if held < heldBySet {
			k.Set = append(k.Set, a.Answer)
			held += a.Share
		}
		if a.Answer == name {
			share = a.Share
		} else {
			k.Others = append(k.Others, a)
		}
	}
	k.Share = &share
	k.Sure = k.words(name, share)
}

func (k *Knee) words(name string, share float64) string {
	pct := percent(share)
	if k.Passes < wordPasses {
		return fmt.Sprintf("%s in %s of the resamples of %d passes", name, pct, k.Passes)
	}
	other := ""
	if len(k.Others) > 0 {
		other = ", otherwise " + k.Others[0].Answer
	}
	switch {
	case share >= 0.90:
		return fmt.Sprintf("%s, firm (%s%s)", name, pct, other)
	case share >= 0.70:
		return fmt.Sprintf("probably %s (%s); set {%s}", name, pct, strings.Join(k.Set, ", "))
	case share >= 0.50:
		return fmt.Sprintf("between %s, not settled (%s for %s): add passes or a rung between them", strings.Join(k.Set, " and "), pct, name)
	default:
		return fmt.Sprintf("not settled (%s for %s); set {%s}", pct, name, strings.Join(k.Set, ", "))
	}
}

// percent is a share without a false 100 %.
func percent(share float64) string {
	p := math.Round(share * 100)
	if p >= 100 && share < 1-1e-9 {
		p = 99
	}
	return fmt.Sprintf("%g %%", p)
}

// count is a number and its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

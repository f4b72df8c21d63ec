package spec

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"rung/spec/plan"
)

// maxMix bounds the lengths of one mix.
const maxMix = 100

const mixWanted = `an object of lengths and their shares, as { "128" = 0.7, "512" = 0.3 }`

// mix decodes the lengths of a prompt that has several. They are kept rising, and the
// longest stands for all where one number must do.
func (l *loader) mix(f *fields, p *prompt) {
	p.where = f.rng("mix")
	f.excludes("mix", "tokens", "gives the lengths of the inputs, and so does tokens. Use one of them.")
	v, ok := f.value("mix")
	if !ok {
		return
	}
	ty := v.Type()
	if v.IsNull() || !v.IsKnown() || !ty.IsObjectType() && !ty.IsMapType() {
		f.wrongType("mix", mixWanted, v)
		return
	}
	values := v.AsValueMap()
	if len(values) == 0 || len(values) > maxMix {
		l.errorAt(f.rng("mix"), sumBadMix, "mix of prompt has 1 to %d lengths; this has %d.", maxMix, len(values))
		return
	}
	shares, sum := make([]plan.Share, 0, len(values)), 0.0
	for _, key := range sortedKeys(values) {
		s, ok := l.mixShare(f, key, values[key])
		if !ok {
			return
		}
		shares = append(shares, s)
		sum += s.Share
	}
	if math.Abs(sum-1) > 1e-6 {
		l.errorAt(f.rng("mix"), sumBadMix, "The shares of mix must sum to 1; these sum to %.9g.", sum)
		return
	}
	slices.SortFunc(shares, func(a, b plan.Share) int { return cmp.Compare(a.Tokens, b.Tokens) })
	p.Mix, p.tokens = shares, shares[len(shares)-1].Tokens
}

// mixShare decodes one length and its share.
func (l *loader) mixShare(f *fields, key string, v cty.Value) (plan.Share, bool) {
	n, err := strconv.Atoi(key)
	if err != nil || strconv.Itoa(n) != key || n < 1 || n > maxTokens {
		l.errorAt(f.rng("mix"), sumBadMix, "A length is a whole number between 1 and %d; %q is none.", maxTokens, clip(key))
		return plan.Share{}, false
	}
	if v.Type() != cty.Number || v.IsNull() {
		f.wrongElement("mix", mixWanted, v)
		return plan.Share{}, false
	}
	share, _ := v.AsBigFloat().Float64()
	if share <= 0 {
		l.errorAt(f.rng("mix"), sumBadMix, "The share of %q must be more than 0; this is %g.", key, share)
		return plan.Share{}, false
	}
	return plan.Share{Tokens: n, Share: share}, true
}

package rows

import "rung/sinks/record"

// kinds has each kind once.
type kinds struct {
	all  []*Kind
	at   map[Kind]uint32
	last uint32

	ints   map[int]*int // so that equal numbers have equal addresses, and kinds can be compared
	int64s map[int64]*int64
}

func newKinds() *kinds {
	return &kinds{at: map[Kind]uint32{}, ints: map[int]*int{}, int64s: map[int64]*int64{}}
}

// of is the number of a request's kind.
func (s *kinds) of(q *record.Request) uint32 {
	k := kindOf(q)
	if len(s.all) > 0 && s.like(&k, s.all[s.last]) {
		return s.last
	}
	for _, p := range []**int{&k.InputTokens, &k.OutputTokensPlanned, &k.OutputTokens, &k.CachedTokens, &k.Status} {
		*p = once(s.ints, *p)
	}
	k.Incident = once(s.int64s, k.Incident)
	id, known := s.at[k]
	if !known {
		id = uint32(len(s.all))
		s.all = append(s.all, new(k))
		s.at[k] = id
	}
	s.last = id
	return id
}

// like says that a kind, whose numbers have other addresses, is the same as one that is
// known: mostly it is that of the request before.
func (s *kinds) like(k, known *Kind) bool {
	if !equal(k.InputTokens, known.InputTokens) || !equal(k.OutputTokensPlanned, known.OutputTokensPlanned) ||
		!equal(k.OutputTokens, known.OutputTokens) || !equal(k.CachedTokens, known.CachedTokens) ||
		!equal(k.Status, known.Status) || !equal(k.Incident, known.Incident) {
		return false
	}
	k.InputTokens, k.OutputTokensPlanned, k.OutputTokens = known.InputTokens, known.OutputTokensPlanned, known.OutputTokens
	k.CachedTokens, k.Status, k.Incident = known.CachedTokens, known.Status, known.Incident
	return *k == *known
}

func equal[N comparable](a, b *N) bool { return a == b || a != nil && b != nil && *a == *b }

// once gives equal numbers one address.
func once[N comparable](all map[N]*N, p *N) *N {
	if p == nil {
		return nil
	}
	if q, ok := all[*p]; ok {
		return q
	}
	n := *p
	all[n] = &n
	return &n
}

package results

// mayWait rules out what looks at the card alone where requests wait, or may.
func (f facts) mayWait() string {
	switch w := f.waits(); {
	case w == nil:
		return "whether requests wait is not known"
	case *w > mostWaiting:
		return "requests wait"
	default:
		return ""
	}
}

func (f facts) util() *float64 {
	if f.r.Card == nil {
		return nil
	}
	return f.r.Card.UtilMean
}

func (f facts) power() *float64 {
	if f.r.Card == nil {
		return nil
	}
	return f.r.Card.PowerOf
}

func (f facts) atPower() bool {
	p := f.power()
	return p != nil && *p >= hotPower
}

// atWork says that the card draws what it may and that the work takes longer the more
// of it there is: a card that is as hot and as quick with twice the load had room.
func (f facts) atWork() bool { return f.atPower() && f.elasticity() >= climbs }

func (f facts) compute() []string {
	var out list
	if u := f.util(); u != nil {
		out.add(*u >= pinned, "utilisation %.0f %%", *u)
	}
	if f.atPower() {
		out.add(true, "power %s of its limit", percent(*f.power()))
	}
	if e := f.elasticity(); f.below != nil {
		out.add(e >= climbs, "the time of a request grows with the load (elasticity %.2f)", e)
	}
	return out
}

// underPower says that the card was always busy and far from its power limit: it waits
// for its memory.
func (f facts) underPower() bool {
	u, p := f.util(), f.power()
	return u != nil && p != nil && *u >= pinned && *p < coolPower
}

func (f facts) bandwidth() []string {
	var out list
	if f.underPower() {
		out.add(true, "utilisation %.0f %% at %s of the power limit", *f.util(), percent(*f.power()))
	}
	if f.below == nil || f.growth <= 1+flat {
		return out
	}
	if _, tpot := streamRatios(f.r, f.below); tpot != nil {
		out.add(alikeTo(*tpot, 1), "TPOT is %.2f times that at %g", *tpot, f.below.Value)
	} else if f.r.Latency != nil {
		x := f.r.Latency.MedianS / f.below.Latency.MedianS
		out.add(alikeTo(x, 1), "the median latency is %.2f times that at %g", x, f.below.Value)
	}
	return out
}

// starved says that the card ran dry again and again with requests in flight, and that
// neither a slowdown nor the client explains it.
func (f facts) starved() bool {
	c := f.r.Card
	return c != nil && c.IdleShare != nil && *c.IdleShare >= idleShare && c.Falls >= leastFalls && c.Slowed == 0 && len(f.client()) == 0
}

func (f facts) host() []string {
	var out list
	if !f.starved() {
		return out
	}
	out.add(true, "utilisation fell to 0 again and again with requests in flight, %s in %s of the samples", count(f.r.Card.Falls, "time", "times"), percent(*f.r.Card.IdleShare))
	out.add(*f.r.Card.UtilMean < starvedUtil, "utilisation %.0f %% on average without a slowdown", *f.r.Card.UtilMean)
	return out
}

package spec

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rung/spec/plan"
)

// serverLimit is a limit that a server takes as a flag.
type serverLimit struct {
	flag string
	what string                 // what is limited
	at   func(s plan.Shape) int // how much of it a request's shape needs
	open bool                   // holds in an open loop too, where what is in flight is only bounded
}

func serverLimits() []serverLimit {
	batch := func(s plan.Shape) int { return s.Batch }
	return []serverLimit{
		{"--max-model-len", "tokens in a sequence", func(s plan.Shape) int { return s.InputTokens + s.OutputTokens }, true},
		{"--max-num-seqs", "sequences at once", func(s plan.Shape) int { return s.Batch * s.InFlight }, false},
		{"--max-client-batch-size", "inputs in a request", batch, true},
		{"--max-batch-size", "inputs in a request", batch, true},
		{"--max-concurrent-requests", "requests at once", func(s plan.Shape) int { return s.InFlight }, false},
	}
}

// adviseLimits compares the ladders with the limits in the server's command.
func (l *loader) adviseLimits(e cell, b *hclsyntax.Block) {
	for _, limit := range serverLimits() {
		most, err := strconv.Atoi(flagOf(e.server, limit.flag))
		if err != nil || most < 1 {
			continue // not there, or in a form of the server's own
		}
		for _, d := range e.ladders {
			if d.Axis == plan.AxisRate && !limit.open {
				continue
			}
			i := slices.IndexFunc(d.Rungs, func(r plan.Rung) bool { return limit.at(r.Shape) > most })
			if i >= 0 {
				r := d.Rungs[i]
				l.warnAt(d.f.rng("rungs"), sumBeyondLimit, "Rung %g has %d %s; the server is started with %s %d. "+
					"From there on it refuses requests or lets them wait, and that is what gets measured.",
					r.Value, limit.at(r.Shape), limit.what, limit.flag, most)
			}
		}
	}
	l.adviseDefaults(e.server, b)
}

// advisePort: a server that listens elsewhere is started, and never asked.
func (l *loader) advisePort(f *fields, s *plan.Server, t *target) {
	u, err := url.Parse(t.URL)
	given := flagOf(s, "--port")
	port, bad := strconv.Atoi(given)
	if t.URL == "" || err != nil || bad != nil {
		return // not known, or in a form of the server's own
	}
	asked := u.Port()
	if asked == "" {
		asked = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if asked != strconv.Itoa(port) {
		l.warnAt(f.rng("command"), sumOtherPort, "The server is started at port %d, and target.url asks port %s.", port, asked)
	}
}

// adviseSimulated: a run on the simulated server meets that server's limit.
func (l *loader) adviseSimulated(e experiment, c cell) {
	if !l.simulated(e) {
		return
	}
	most, whose := plan.DefaultSimulator().MaxInputTokens, "the default simulator takes"
	if e.simulator != nil {
		most, whose = e.simulator.MaxInputTokens, "max_input_tokens of simulator is"
	}
	for _, d := range c.ladders {
		i := slices.IndexFunc(d.Rungs, func(r plan.Rung) bool { return r.Shape.InputTokens+r.Shape.OutputTokens > most })
		if i >= 0 {
			s := d.Rungs[i].Shape
			l.warnAt(d.f.rng("rungs"), sumBeyondSim, "At rung %g a request has %d tokens, in and out, and %s %d. "+
				"From there on the simulated server refuses them; a simulator block with a larger max_input_tokens takes them.", d.Rungs[i].Value, s.InputTokens+s.OutputTokens, whose, most)
		}
	}
}

// adviseDefaults names the limits that a server known to have them was not given:
// their defaults change with its version.
func (l *loader) adviseDefaults(s *plan.Server, b *hclsyntax.Block) {
	var missing []string
	for _, flag := range flagsOf(s) {
		if _, ok := s.Flag(flag); !ok {
			missing = append(missing, flag)
		}
	}
	if len(missing) > 0 {
		l.warnAt(b.Body.Attributes["command"].Expr.Range(), sumDefaultLimits, "The command does not set %s. The defaults depend on the server's version and the card; "+
			"a limit that is measured against one of them holds only there.", list(missing))
	}
}

// flagsOf are the limits of a server that should be set, by its program. One with a
// configuration file may have them there.
func flagsOf(s *plan.Server) []string {
	if _, config := s.Flag("--config"); config {
		return nil
	}
	switch s.Software() {
	case plan.VLLM:
		return []string{"--max-model-len", "--max-num-seqs"}
	case plan.TEI:
		return []string{"--max-client-batch-size", "--max-concurrent-requests"}
	default:
		return nil
	}
}

func flagOf(s *plan.Server, flag string) string {
	v, _ := s.Flag(flag)
	return v
}

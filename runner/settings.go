package runner

import (
	"context"
	"fmt"

	"rung/runner/settings"
	"rung/sinks/record"
)

// mostSaid bounds the lines of the log from before the run that become warnings.
const mostSaid = 5

// findSettings holds what the server says of its settings against what its command asked
// for, and warns of what is not as asked.
func (p *Prepared) findSettings(ctx context.Context) {
	said := p.client.Settings(ctx, p.server.Software)
	if p.cfg.Told != nil {
		said = append(said, p.cfg.Told(ctx)...)
	}
	if p.cfg.Log != nil {
		said = append(said, p.cfg.Log.Settings()...)
	}
	var notices []string
	p.server.Settings, notices = settings.Compare(p.cfg.Asked, said)
	p.warnings = append(p.warnings, notices...)
	if p.cfg.Log == nil {
		return
	}
	n := 0
	for _, e := range p.cfg.Log.Read() { // what was printed before the run is of no time in it
		if e.Kind == record.LogSetting && n < mostSaid {
			n++
			p.warnings = append(p.warnings, fmt.Sprintf("the server took another setting than it was given: its log: %q", e.Reason))
		}
	}
}

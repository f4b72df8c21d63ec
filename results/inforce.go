package results

import (
	"fmt"
	"slices"

	"rung/sinks/record"
)

// inForce names what differs between the settings that two servers said are in force,
// and what the second does not run with though its command asks for it.
func inForce(a, b []record.Setting) []string {
	var out []string
	for _, s := range b {
		i := slices.IndexFunc(a, func(x record.Setting) bool { return x.Name == s.Name })
		if i >= 0 && a[i].InForce != "" && s.InForce != "" && a[i].InForce != s.InForce {
			out = append(out, fmt.Sprintf("in force: %s %s (%s), before %s", s.Name, s.InForce, s.Source, a[i].InForce))
		}
		if s.Differs {
			out = append(out, fmt.Sprintf("not in force: %s %s; the server runs with %s (%s)", s.Flag, s.Asked, s.InForce, s.Source))
		}
	}
	return out
}

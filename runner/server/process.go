package server

import (
	"fmt"
	"strings"
	"time"

	"rung/runner/proc"
)

// killTime is how long a group may take to be gone once it was killed.
const killTime = 10 * time.Second

// stop asks the group to end and, after the grace, kills it. It returns when all of it
// is gone.
func (p *process) stop(grace time.Duration) {
	proc.Ask(p.cmd)
	until := time.Now().Add(grace)
	for proc.Lives(p.cmd) && time.Now().Before(until) {
		time.Sleep(20 * time.Millisecond)
	}
	proc.Kill(p.cmd)
	for until = time.Now().Add(killTime); proc.Lives(p.cmd) && time.Now().Before(until); {
		time.Sleep(20 * time.Millisecond)
	}
	<-p.ended
}

// howEnded is the exit status and the last lines.
func (p *process) howEnded() string {
	text := "exit status 0"
	if p.err != nil {
		text = p.err.Error()
	}
	return text + p.lastLines()
}

// lastLines are what it printed last, each on a line of its own.
func (p *process) lastLines() string {
	lines := p.out.last()
	if len(lines) == 0 {
		return "; it printed nothing"
	}
	return fmt.Sprintf("; it printed last:\n  %s", strings.Join(lines, "\n  "))
}

package main

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rung/runner/gpu/smi"
	"rung/spec/plan"
)

// prepared is a spec's plan as a run on this machine takes it.
func prepared(p plan.Plan, path string) plan.Plan {
	p.Target.TLS = p.Target.TLS.In(filepath.Dir(path))
	return p
}

// executes lists the programs that a run of the cells would start, each once, as a shell
// would be told to.
func executes(p plan.Plan, cells []plan.Cell, simulated bool) []string {
	var out []string
	add := func(what string, command []string) {
		if line := what + ": " + shellWords(command); len(command) > 0 && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	for _, c := range cells {
		if c.Server != nil && !simulated {
			add("server.command", c.Server.Command)
		}
	}
	add("target.command", p.Target.Command)
	if p.GPU.Source == sourceSMI {
		add("gpu.command", smi.Program(p.GPU.Command))
	}
	return out
}

// announce says what a run will execute before it does, and refuses it where the command
// line allows nothing.
func (a *app) announce(programs []string, refuse bool) error {
	if len(programs) == 0 {
		return nil
	}
	list := "\n  " + strings.Join(programs, "\n  ")
	if refuse {
		return usage("--no-exec: the run would execute%s", list)
	}
	a.say("this run executes%s", list)
	return nil
}

// shellWords writes a command as a shell would be told it; what could trouble a terminal
// is escaped.
func shellWords(command []string) string {
	words := make([]string, len(command))
	for i, w := range command {
		words[i] = w
		if w == "" || strings.ContainsFunc(w, func(r rune) bool { return !strings.ContainsRune(plainWord, r) }) {
			words[i] = strconv.Quote(w)
		}
	}
	return strings.Join(words, " ")
}

const plainWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+"

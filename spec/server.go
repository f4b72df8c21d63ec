package spec

import (
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"rung/spec/plan"
)

func serverSchema() schema {
	return schema{kind: "server", attrs: []string{"command", "env", "dir", "restart", "log"}, blocks: []string{"ready", "stop"}}
}

func readySchema() schema {
	return schema{kind: "ready", attrs: []string{"path", "port", "log", "timeout"}}
}

// serverStopSchema is of the block stop in server, which ends a process; that in a
// ladder ends the ladder.
func serverStopSchema() schema { return schema{kind: "stop", attrs: []string{"grace"}} }

// server decodes the server that rung starts, or the log of one that is attached; nil
// without the block. Sensitive values of its environment go to the target's secrets.
func (l *loader) server(b *hclsyntax.Block, t *target) *plan.Server {
	if b == nil {
		return nil
	}
	f := l.open(b, serverSchema())
	if !f.given("command") {
		return l.attached(f)
	}
	f.refuse(sumOnlyWith, "is of an attached server; what a server started by rung prints is recorded anyway.", "log")
	s := plan.Server{Command: f.command()}
	s.Restart = plan.Restart(f.choice("restart", string(plan.RestartLadder),
		[]string{string(plan.RestartLadder), string(plan.RestartCell), string(plan.RestartNever)}))
	if f.given("dir") {
		s.Dir = f.word("dir")
	}
	l.plainArguments(f, s.Command, "Give it by server.env, from a variable with sensitive = true.")
	l.serverEnv(f, &s, t)
	s.Ready = l.ready(f.sub(readySchema()))
	s.Grace = plan.Duration(f.sub(serverStopSchema()).duration("grace", 10*time.Second, 0, time.Hour))
	l.checkListens(f, t)
	l.advisePort(f, &s, t)
	return &s
}

// attached decodes a server that rung does not start: only its log is known.
func (l *loader) attached(f *fields) *plan.Server {
	if !f.given("log") {
		l.errorAt(f.head(), sumMissingAttr, "server needs the attribute command, the program that rung starts, "+
			"or log, the file in which a server that runs already writes what it says.")
	}
	f.refuse(sumOnlyWith, "belongs to a server that rung starts, by command.", "env", "dir", "restart", "ready", "stop")
	if !f.given("log") {
		return nil
	}
	return &plan.Server{Log: f.word("log")}
}

// checkListens: a server that is started listens at target.url.
func (l *loader) checkListens(f *fields, t *target) {
	switch {
	case t.api == plan.Exec:
		f.refuse(sumOnlyWith, `is a server reached over HTTP; with api = "exec" rung starts target.command itself.`, "command")
	case !t.hasURL && len(l.blocksOf("simulator")) > 0 && !l.opts.Simulate:
		l.errorAt(f.head(), sumMissingURL, "A server with a command needs target.url, the address at which it will listen: "+
			"without one the simulated server is used, and this one never started.")
	}
}

// serverEnv decodes the environment of a started server, in order of name.
func (l *loader) serverEnv(f *fields, s *plan.Server, t *target) {
	if !f.given("env") {
		return
	}
	values, ok := l.object(f, "env", `an object of strings, as { NAME = "value" }`)
	if !ok {
		return
	}
	for _, name := range sortedKeys(values) {
		bare, marks := values[name].UnmarkDeep()
		secret := len(marks) > 0
		if why := badEnv(name, bare); why != "" {
			l.errorAt(f.rng("env"), sumBadEnv, "The variable %q: %s", clip(name), why)
			continue
		}
		if secret && f.refuseSecretByCell("env", name) {
			continue
		}
		h := plan.Header{Name: name, Sensitive: secret}
		switch {
		case !bare.IsKnown(): // it has no value yet, or could not be parsed
		case secret:
			t.secrets.Env[name] = plan.NewSecret(bare.AsString())
		default:
			h.Value = bare.AsString()
		}
		s.Env = append(s.Env, h)
	}
}

// badEnv says why a process can't be given a variable, without quoting its value.
func badEnv(name string, v cty.Value) string {
	switch {
	case !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(name):
		return "a name has letters, digits and _, and no digit in front."
	case v.Type() != cty.String && v.Type() != cty.DynamicPseudoType || v.IsNull():
		return "its value must be a string in quotes."
	case v.IsKnown() && strings.Contains(v.AsString(), "\x00"):
		return "its value has a zero byte."
	default:
		return ""
	}
}

// ready decodes what a started server shows before it is asked anything.
func (l *loader) ready(f *fields) plan.Ready {
	r := plan.Ready{
		Path:    f.urlPath("path", ""),
		Port:    f.count("port", 0, 1, 65535),
		Timeout: plan.Duration(f.duration("timeout", 10*time.Minute, time.Second, 24*time.Hour)),
	}
	if f.given("log") {
		r.Log = f.word("log")
	}
	if _, err := regexp.Compile(r.Log); err != nil {
		l.errorAt(f.rng("log"), sumBadPattern, "log of ready is a regular expression (RE2) that a line of the server's output matches: %v.", err)
	}
	return r
}

// urlPath reads the path of a page at the target's address.
func (f *fields) urlPath(name, def string) string {
	if !f.given(name) {
		return def
	}
	s := f.word(name)
	if s != "" && (!strings.HasPrefix(s, "/") || strings.HasPrefix(s, "//") || strings.ContainsAny(s, "# \t\r\n")) {
		f.l.errorAt(f.rng(name), sumBadPath,
			`%s of %s is the path of a page at the server's address: it begins with one /, as "/health", and has no space and no #.`, name, f.kind)
		return def
	}
	return s
}

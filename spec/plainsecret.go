package spec

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// plainHeader warns of a header that carries a secret by custom and whose value is
// not sensitive: it would stand in every run's manifest. The excerpt does not show it.
func (l *loader) plainHeader(f *fields, name string, v cty.Value) {
	if !carriesSecret(name) || !v.IsKnown() || v.AsString() == "" {
		return
	}
	rng := f.rng("headers")
	if object, ok := f.attrs["headers"].Expr.(*hclsyntax.ObjectConsExpr); ok {
		if e := itemOf(object, name); e != nil {
			rng = e.Range()
		}
	}
	l.veil(rng)
	l.warnAt(rng, sumPlainSecret, "The header %s carries a secret by custom, and this value is not sensitive: it is recorded with every run. "+
		"Take it from a variable with sensitive = true, or from env().", clip(name))
}

// carriesSecret says that a header's name promises a secret.
func carriesSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains([]string{"authorization", "proxy-authorization", "cookie"}, name) ||
		slices.ContainsFunc([]string{"token", "secret", "key"}, func(word string) bool { return strings.Contains(name, word) })
}

// plainArguments warns of the arguments of a command by which servers take secrets.
func (l *loader) plainArguments(f *fields, args []string, way string) {
	for i, a := range args {
		flag, value, joined := strings.Cut(a, "=")
		at := i
		if !joined && i+1 < len(args) {
			value, at = args[i+1], i+1
		}
		if !secretFlag(flag) || value == "" || strings.HasPrefix(value, "--") || strings.HasPrefix(value, "$") {
			continue
		}
		rng := f.argument(at, len(args))
		l.veil(rng)
		l.warnAt(rng, sumPlainSecret, "What follows %s is recorded with every run, and all users of the machine can read it in the list of processes. %s", clip(flag), way)
	}
}

func secretFlag(flag string) bool {
	return slices.Contains([]string{"--api-key", "--api-token", "--token", "--auth-token", "--access-token", "--hf-token", "--hf-api-token",
		"--secret", "--secret-key", "--password"}, strings.ReplaceAll(strings.ToLower(flag), "_", "-"))
}

// argument is where an element of command stands, or the whole where that is not
// written as a list.
func (f *fields) argument(i, n int) hcl.Range {
	if tuple, ok := f.attrs["command"].Expr.(*hclsyntax.TupleConsExpr); ok && len(tuple.Exprs) == n {
		return tuple.Exprs[i].Range()
	}
	return f.rng("command")
}

// veil keeps a part of the file out of excerpts; the run's copy of the file keeps it,
// for the plan beside it has it too.
func (l *loader) veil(rng hcl.Range) {
	l.veiled = append(l.veiled, span{rng.Start.Byte, rng.End.Byte})
}

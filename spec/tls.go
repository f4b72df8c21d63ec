package spec

import (
	"strings"

	"rung/spec/plan"
)

func tlsSchema() schema {
	return schema{kind: "tls", attrs: []string{"ca", "certificate", "key", "insecure"}}
}

// tls decodes how the target is known and how rung is known to it; nil without the block.
// The files are read when a run begins: a spec can be checked without them.
func (l *loader) tls(f *fields, t *target) *plan.TLS {
	d := f.sub(tlsSchema())
	if d.block == nil {
		return nil
	}
	out := plan.TLS{CA: d.path("ca"), Certificate: d.path("certificate"), Key: d.path("key"), Insecure: d.truth("insecure", false)}
	if d.given("certificate") != d.given("key") {
		l.errorAt(d.head(), sumMissingAttr, "A client's certificate and its key go together: tls needs both, certificate and key.")
	}
	if out.Insecure {
		d.excludes("insecure", "ca", "the one takes every certificate, and the other says which to trust.")
	}
	if strings.HasPrefix(t.URL, "http:") {
		l.errorAt(d.head(), sumOnlyWith, "tls belongs to an https address, and target.url is %s.", t.URL)
	}
	return &out
}

// path decodes the name of a file, which may be left out.
func (f *fields) path(name string) string {
	if !f.given(name) {
		return ""
	}
	return f.word(name)
}

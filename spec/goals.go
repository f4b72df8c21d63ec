package spec

import (
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rung/spec/plan"
)

func metricsSchema() schema {
	return schema{kind: "metrics", attrs: []string{"path", "url", "interval"}}
}

func sloSchema() schema { return schema{kind: "slo", attrs: []string{"latency", "ttft", "tpot"}} }

func rollbackSchema() schema {
	return schema{kind: "rollback", attrs: []string{"outcomes", "p95", "timeout_ratio", "cap_share"}}
}

// formSchema is of the block config at the top, which asks for a form of
// configuration; that in analysis holds factors.
func formSchema() schema { return schema{kind: "config", labels: 1} }

// metrics decodes where the server's own page is; nil without the block.
func (l *loader) metrics(b *hclsyntax.Block, api plan.API) *plan.Metrics {
	if b == nil {
		return nil
	}
	f := l.open(b, metricsSchema())
	m := plan.Metrics{URL: f.page("url"), Interval: plan.Duration(f.duration("interval", time.Second, 10*time.Millisecond, time.Hour))}
	f.excludes("path", "url", "is at the target's address; url is a whole one. Use one of them.")
	if path := f.urlPath("path", "/metrics"); !f.given("url") {
		m.Path = path
	}
	if api == plan.Exec && !f.given("url") {
		l.errorAt(f.head(), sumMissingAttr, `metrics needs the attribute url where the target has none, as with api = "exec".`)
	}
	return &m
}

// slo decodes what a request must meet to count as goodput; nil without the block.
func (l *loader) slo(b *hclsyntax.Block, api plan.API) *plan.SLO {
	if b == nil {
		return nil
	}
	f := l.open(b, sloSchema())
	var s plan.SLO
	for name, field := range map[string]*plan.Duration{"latency": &s.Latency, "ttft": &s.TTFT, "tpot": &s.TPOT} {
		*field = plan.Duration(f.duration(name, 0, time.Microsecond, 24*time.Hour))
	}
	if f.empty {
		l.errorAt(f.head(), sumMissingAttr, "slo needs at least one of the attributes latency, ttft and tpot.")
	}
	f.onlyGenerating(api, "ttft", "tpot")
	return &s
}

// onlyGenerating refuses attributes that mean nothing where no tokens are generated.
func (f *fields) onlyGenerating(api plan.API, names ...string) {
	if api != "" && !api.Generates() {
		f.refuse(sumNotGenerating, "is for openai-chat and openai-completions; the api "+string(api)+" gives its answer at once.", names...)
	}
}

// rollback decodes what a later run is held against; nil without the block.
func (l *loader) rollback(b *hclsyntax.Block) *plan.Rollback {
	if b == nil {
		return nil
	}
	f := l.open(b, rollbackSchema())
	if f.empty {
		l.errorAt(f.head(), sumMissingAttr, "rollback needs at least one of the attributes outcomes, p95, timeout_ratio and cap_share.")
	}
	return &plan.Rollback{
		Outcomes:     f.failures("An outcome that rolls back", nil),
		P95:          plan.Duration(f.duration("p95", 0, time.Microsecond, 24*time.Hour)),
		TimeoutRatio: f.share("timeout_ratio"),
		CapShare:     f.share("cap_share"),
	}
}

// configs decodes the forms of configuration that the report writes, in the order of
// the file.
func (l *loader) configs() []string {
	var out []string
	first := map[string]*hclsyntax.Block{}
	for _, b := range l.blocksOf("config") {
		f := l.open(b, formSchema())
		if len(b.Labels) != 1 {
			continue // reported by open
		}
		form := l.choose(b.LabelRanges[0], "The label of config", f.label(), "", []string{"vllm", "tei", "sglang", "yaml"})
		switch {
		case slices.Contains(out, form):
			l.duplicate(b, first[form])
		case form != "":
			first[form] = b
			out = append(out, form)
		}
	}
	return out
}

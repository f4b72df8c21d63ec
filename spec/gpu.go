package spec

import (
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"rung/spec/plan"
)

// Sources of GPU samples.
const (
	sourceNVML      = "nvml"
	sourceDCGM      = "dcgm"
	sourceSMI       = "nvidia-smi"
	sourceFile      = "file"
	sourceSimulator = "simulator"
	sourceNone      = "none"
)

func gpuSchema() schema {
	return schema{kind: "gpu", attrs: []string{"source", "devices", "interval", "url", "path", "command"}}
}

func sources() []string {
	return []string{sourceNVML, sourceDCGM, sourceSMI, sourceFile, sourceSimulator, sourceNone}
}

// gpu decodes the block: as the run takes it, and as the file has it. The two
// differ where the run is simulated, for then there is no card to look at: without
// a declared source, and by --simulate with one as well, the samples are those of
// the simulated GPU.
func (l *loader) gpu(b *hclsyntax.Block, simulated bool) (used, declared plan.GPU) {
	f := l.absent(gpuSchema())
	if b != nil {
		f = l.open(b, gpuSchema())
	}
	g := plan.GPU{Declared: f.given("source")}
	g.Source = f.choice("source", "", sources())
	switch {
	case g.Source != "":
		l.gpuSource(f, &g)
	case !g.Declared:
		g.Source = sourceNVML
		l.gpuSource(f, &g)
	}
	g.Devices = f.devices()
	g.Interval = plan.Duration(f.duration("interval", 200*time.Millisecond, 10*time.Millisecond, time.Hour))
	used = g
	if simulated && g.Source != sourceNone && g.Source != sourceSimulator && (!g.Declared || l.opts.Simulate) {
		used = plan.GPU{Source: sourceSimulator, Declared: g.Declared, Interval: g.Interval}
	}
	if !simulated && g.Source == sourceSimulator && l.opts.ForRun {
		l.errorAt(f.rng("source"), sumNoSimulator, "This run measures the server at target.url, which has no simulated GPU. Use nvml or none, or run with --simulate.")
	}
	return used, g
}

// gpuSource decodes what says where the samples of one source are, and refuses what
// belongs to another.
func (l *loader) gpuSource(f *fields, g *plan.GPU) {
	for _, only := range []struct{ attr, source string }{{"url", sourceDCGM}, {"path", sourceFile}, {"command", sourceSMI}} {
		if g.Source != only.source {
			f.refuse(sumOnlyWith, fmt.Sprintf("belongs to source = %q.", only.source), only.attr)
		}
	}
	const needs = "source = %q needs the attribute %s, %s."
	switch {
	case g.Source == sourceDCGM && !f.given("url"):
		l.errorAt(f.rng("source"), sumMissingAttr, needs, sourceDCGM, "url", `the exporter's page, as "http://127.0.0.1:9400/metrics"`)
	case g.Source == sourceFile && !f.given("path"):
		l.errorAt(f.rng("source"), sumMissingAttr, needs, sourceFile, "path", "where the recorded samples are")
	}
	g.URL = f.page("url")
	g.Command = f.command()
	if f.given("path") {
		g.Path = f.word("path")
	}
}

// devices reads a list of UUIDs and indices; the runner knows them by text.
func (f *fields) devices() []string {
	const wanted = `a list of UUIDs in quotes and of indices, as ["GPU-5f...", 1]`
	values, ok := f.elements("devices", wanted, 1_000)
	if !ok {
		return nil
	}
	var out []string
	for _, v := range values {
		switch n, isWhole := wholeNumber(v); {
		case isWhole && n >= 0:
			out = append(out, v.AsBigFloat().Text('f', 0))
		case v.Type() == cty.String && !v.IsNull() && v.AsString() != "":
			out = append(out, v.AsString())
		default:
			f.wrongElement("devices", wanted, v)
			return nil
		}
	}
	if len(out) == 0 {
		f.l.errorAt(f.rng("devices"), sumOutOfRange, "devices of gpu names none. Leave it out for all of them, or use source = \"none\".")
	}
	for i, d := range out {
		if slices.Index(out, d) < i {
			f.l.errorAt(f.rng("devices"), sumOutOfRange, "devices of gpu names %q twice.", clip(d))
			return nil
		}
	}
	return out
}

func wholeNumber(v cty.Value) (int64, bool) {
	if v.Type() != cty.Number || v.IsNull() {
		return 0, false
	}
	return whole(v)
}

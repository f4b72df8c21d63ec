package spec

import (
	"slices"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rung/spec/plan"
)

// Bounds on what one request asks.
const (
	maxTokens       = 1_000_000
	maxPrompts      = 1_000
	maxOutputTokens = 1_000_000
	maxPool         = 1_000_000
	maxKind         = 200 // letters
)

// prompt is a decoded prompt block. A length of 0 is one that the file leaves out.
type prompt struct {
	plan.Prompt
	tokens int // of a mix the most
	output int
	rng    hcl.Range // of the block's head
	where  hcl.Range // of tokens, or of mix
	answer hcl.Range // of output_tokens
	sound  bool      // its own attributes are right
}

// length is one of the lengths that a request has, and the axis that raises it.
type length struct {
	axis   plan.Axis
	attr   string // of the prompt
	tokens int    // 0 where the prompt leaves it out
	where  hcl.Range
}

// lengths are those that a request of the API needs.
func (p prompt) lengths(api plan.API) []length {
	in := length{plan.AxisInputTokens, "tokens", p.tokens, p.where}
	if len(p.Mix) > 0 {
		in.attr = "mix"
	}
	if !api.Generates() {
		return []length{in}
	}
	return []length{in, {plan.AxisOutputTokens, "output_tokens", p.output, p.answer}}
}

func promptSchema() schema {
	return schema{kind: "prompt", labels: 1, attrs: []string{"tokens", "mix", "kind", "text_file", "reuse", "pool",
		"output_tokens", "output", "temperature", "stream"}}
}

// prompts decodes all prompt blocks, in order.
func (l *loader) prompts(api plan.API) []prompt {
	var out []prompt
	first := map[string]*hclsyntax.Block{}
	for _, b := range l.blocksOf("prompt") {
		before := len(l.findings)
		f := l.open(b, promptSchema())
		if !l.usableName(b) {
			continue
		}
		if len(out) == maxPrompts {
			l.errorAt(b.DefRange(), sumTooMany, "A file may declare %d prompts.", maxPrompts)
			break
		}
		p := l.prompt(f, api)
		if one := first[f.label()]; one != nil {
			l.duplicate(b, one)
			continue
		}
		first[f.label()] = b
		p.sound = len(l.findings) == before && (p.tokens > 0 || !f.given("tokens"))
		out = append(out, p)
	}
	if len(l.blocksOf("prompt")) == 0 {
		l.fileError(sumMissingBlock, `The file has no block prompt: prompt "p" { ... }, which says how long the inputs are.`)
	}
	return out
}

func (l *loader) prompt(f *fields, api plan.API) prompt {
	p := prompt{rng: f.head(), where: f.rng("tokens")}
	p.Name = f.label()
	p.tokens = f.count("tokens", 0, 1, maxTokens)
	if f.given("mix") {
		l.mix(f, &p)
	}
	if p.Kind = f.text("kind", ""); utf8.RuneCountInString(p.Kind) > maxKind {
		l.errorAt(f.rng("kind"), sumOutOfRange, "kind of prompt may have %d letters; this has %d.", maxKind, utf8.RuneCountInString(p.Kind))
	}
	if f.given("text_file") {
		p.TextFile = f.word("text_file")
	}
	if p.TextFile != "" {
		p.TextHash = l.textFile(f, p.TextFile)
	}
	l.reuse(f, &p)
	l.answer(f, &p, api)
	return p
}

// reuse decodes what two requests of the prompt have in common.
func (l *loader) reuse(f *fields, p *prompt) {
	words := []string{string(plan.Unique), string(plan.Same), string(plan.Pool)}
	p.Reuse = plan.Reuse(f.choice("reuse", string(plan.Unique), words))
	p.Pool = f.count("pool", 0, 2, maxPool)
	switch {
	case p.Reuse == plan.Pool && !f.given("pool"):
		l.errorAt(f.rng("reuse"), sumMissingAttr, `reuse = "pool" needs the attribute pool, how many distinct prompts there are.`)
	case p.Reuse != plan.Pool:
		f.refuse(sumOnlyWith, `belongs to reuse = "pool".`, "pool")
	}
}

// answer decodes what is asked of the answer of an API that generates.
func (l *loader) answer(f *fields, p *prompt, api plan.API) {
	p.answer = f.rng("output_tokens")
	p.output = f.count("output_tokens", 0, 1, maxOutputTokens)
	p.Exact = f.choice("output", "exact", []string{"exact", "at_most"}) == "exact" && api.Generates()
	p.Temperature = f.real("temperature", 0, 0, 2)
	p.Stream = f.truth("stream", true) && api.Generates()
	if f.given("output_tokens") && api != "" && !api.Generates() {
		l.errorAt(f.rng("output_tokens"), sumOutputTokens, "The api %s gives no output tokens. Leave the attribute out.", api)
	}
	f.onlyGenerating(api, "output", "temperature", "stream")
}

// promptOf finds the prompt that a block refers to: by prompt = prompt.name, else
// the only one of the file. Where there is none, ok is false and it was reported.
func (f *fields) promptOf(all []prompt) (prompt, bool) {
	attr := f.attrs["prompt"]
	switch {
	case attr != nil:
		return f.promptNamed(attr, all)
	case len(all) == 1:
		return all[0], true
	case len(all) > 1 && f.block != nil:
		f.l.errorAt(f.head(), sumWhichPrompt, "The file has %d prompts. Say which: prompt = prompt.%s.", len(all), all[0].Name)
	}
	return prompt{}, false
}

func (f *fields) promptNamed(attr *hclsyntax.Attribute, all []prompt) (prompt, bool) {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	name, ok := f.reference(attr, "prompt", names, sumUnknownPrompt)
	if !ok {
		return prompt{}, false
	}
	return all[slices.Index(names, name)], true
}

// reference reads kind.name and gives the name, which is one of those given. Where it
// is none, ok is false and it was reported, here or where such a block stands.
func (f *fields) reference(attr *hclsyntax.Attribute, kind string, names []string, unknown summary) (name string, ok bool) {
	t, diags := hcl.AbsTraversalForExpr(attr.Expr)
	if diags.HasErrors() || len(t) != 2 || t.RootName() != kind {
		f.l.errorAt(attr.Expr.Range(), sumBadReference, "%s must be a reference without quotes, as %s.name.%s", kind, kind, f.meant(attr, kind, names))
		return "", false
	}
	name, ok = stepName(t[1])
	if ok && !slices.Contains(names, name) {
		if !f.l.declares(kind, name) {
			f.l.errorAt(attr.Expr.Range(), unknown, "The file declares no %s %q.%s", kind, clip(name), didYouMean(name, names))
		}
		return "", false
	}
	return name, ok
}

// meant guesses what was to be referred to.
func (f *fields) meant(attr *hclsyntax.Attribute, kind string, names []string) string {
	if v := hcl.ExprAsKeyword(attr.Expr); v != "" {
		return didYouMean(kind+"."+v, prefixed(kind+".", names))
	}
	return didYouMean("", names)
}

func prefixed(p string, names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = p + n
	}
	return out
}

// declares says that the file has a block of the kind and the name, usable or not.
func (l *loader) declares(kind, name string) bool {
	for _, b := range l.blocksOf(kind) {
		if len(b.Labels) == 1 && b.Labels[0] == name {
			return true
		}
	}
	return false
}

package spec

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rung/spec/plan"
)

// Bounds on what one request asks.
const (
	maxTokens       = 1_000_000
	maxPrompts      = 1_000
	maxOutputTokens = 1_000_000
)

// prompt is a decoded prompt block. A length of 0 is one that the file leaves out.
type prompt struct {
	plan.Prompt
	tokens int
	output int
	rng    hcl.Range // of the block's head
	where  hcl.Range // of tokens
	sound  bool      // its own attributes are right
}

func promptSchema() schema {
	const kind = "A prompt is seeded ids, or text from text_file, no two alike."
	return schema{
		kind: "prompt", labels: 1, attrs: []string{"tokens", "text_file", "output_tokens"},
		notYet: map[string]string{
			"mix": "A prompt has one length, tokens.", "reuse": "Every prompt is unique.", "kind": kind,
			"output": "output_tokens is the most that an answer has.", "stream": "Answers are not streamed.",
			"temperature": "It is 0.",
		},
	}
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
	p.Name, p.Reuse = f.label(), plan.Unique
	p.tokens = f.count("tokens", 0, 1, maxTokens)
	p.output = f.count("output_tokens", 0, 1, maxOutputTokens)
	if f.given("text_file") {
		p.TextFile = f.word("text_file")
	}
	if p.TextFile != "" {
		p.TextHash = l.textFile(f, p.TextFile)
	}
	switch {
	case api == plan.OpenAIChat && !f.given("output_tokens"):
		l.errorAt(f.head(), sumOutputTokens, "A prompt of a chat needs output_tokens, the length of the answer asked for.")
	case api == plan.OpenAIEmbeddings && f.given("output_tokens"):
		l.errorAt(f.rng("output_tokens"), sumOutputTokens, "Embeddings have no output tokens. Leave the attribute out.")
	}
	return p
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
	t, diags := hcl.AbsTraversalForExpr(attr.Expr)
	if diags.HasErrors() || len(t) != 2 || t.RootName() != "prompt" {
		f.l.errorAt(attr.Expr.Range(), sumBadReference, "prompt must be a reference without quotes, as prompt.name.%s", f.meant(attr, names))
		return prompt{}, false
	}
	name, ok := stepName(t[1])
	for _, p := range all {
		if ok && p.Name == name {
			return p, true
		}
	}
	if ok && !f.l.declares("prompt", name) {
		f.l.errorAt(attr.Expr.Range(), sumUnknownPrompt, "The file declares no prompt %q.%s", clip(name), didYouMean(name, names))
	}
	return prompt{}, false
}

// meant guesses what was to be referred to.
func (f *fields) meant(attr *hclsyntax.Attribute, names []string) string {
	if v := hcl.ExprAsKeyword(attr.Expr); v != "" {
		return didYouMean("prompt."+v, prefixed("prompt.", names))
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

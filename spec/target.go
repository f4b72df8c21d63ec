package spec

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"rung/spec/plan"
)

// target is the decoded block, its secrets apart.
type target struct {
	plan.Target
	api        plan.API // "" where it is wrong
	hasURL     bool
	secrets    plan.Secrets
	f          *fields         // whose body is decoded for each cell
	body       json.RawMessage // of the cell in hand
	secretBody []string        // keys of body with sensitive values, in order
}

func targetSchema() schema {
	return schema{
		kind: "target", attrs: []string{"api", "url", "model", "headers", "body", "command", "proxy"}, required: []string{"api", "model"},
		blocks: []string{"timeout", "tls"},
	}
}

func timeoutSchema() schema {
	return schema{kind: "timeout", attrs: []string{"connect", "request", "first_byte", "between_bytes"}}
}

func apis() []string {
	return []string{string(plan.OpenAIEmbeddings), string(plan.OpenAIChat), string(plan.OpenAICompletions), string(plan.TEIEmbed), string(plan.Exec)}
}

func (l *loader) target(b *hclsyntax.Block, simulator bool) target {
	f := l.absent(targetSchema())
	if b != nil {
		f = l.open(b, targetSchema())
	}
	t := target{secrets: plan.Secrets{Headers: map[string]plan.Secret{}, Body: map[string]plan.Secret{}, Env: map[string]plan.Secret{}}}
	t.api = plan.API(f.choice("api", "", apis()))
	t.API = t.api
	t.Model = f.word("model")
	l.targetURL(f, &t, simulator)
	l.exec(f, &t)
	t.Proxy, t.TLS = l.proxy(f), l.tls(f, &t)
	l.headers(f, &t)
	t.f = f
	d := f.sub(timeoutSchema())
	t.Timeout.Connect = plan.Duration(d.duration("connect", 5*time.Second, time.Millisecond, time.Hour))
	t.Timeout.Request = plan.Duration(d.duration("request", 120*time.Second, time.Millisecond, 24*time.Hour))
	t.Timeout.FirstByte = plan.Duration(d.duration("first_byte", 60*time.Second, time.Millisecond, 24*time.Hour))
	t.Timeout.BetweenBytes = plan.Duration(d.duration("between_bytes", 60*time.Second, time.Millisecond, 24*time.Hour))
	return t
}

// exec decodes the program of the api exec, which has no address: what speaks HTTP
// can't stand beside it.
func (l *loader) exec(f *fields, t *target) {
	t.Command = f.command()
	l.plainArguments(f, t.Command, "Let the program read it from its environment or from a file of its own.")
	switch {
	case t.api == "": // it may be exec that was meant
	case t.api != plan.Exec:
		f.refuse(sumOnlyWith, `belongs to api = "exec". A server that rung is to start stands in the block server.`, "command")
	default:
		if !f.given("command") {
			l.errorAt(f.head(), sumMissingAttr, `target with api = "exec" needs the attribute command, as in command = ["program", "argument"].`)
		}
		f.refuse(sumOnlyWith, `belongs to a server that is reached over HTTP; with api = "exec" there is a program, target.command.`, "url", "headers", "proxy")
		for _, b := range l.blocksOf("simulator") {
			l.errorAt(b.DefRange(), sumOnlyWith,
				`The simulated server is reached over HTTP, and would take the place of target.command without a word. Leave it out with api = "exec".`)
		}
	}
}

// proxy decodes the address of a proxy, which is recorded.
func (l *loader) proxy(f *fields) string {
	if !f.given("proxy") {
		return ""
	}
	s := f.word("proxy")
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) || u.Hostname() == "" ||
		strings.Trim(u.Path, "/")+u.RawQuery+u.Fragment != "":
		l.errorAt(f.rng("proxy"), sumBadURL, `A proxy is a scheme (http, https or socks5), a host and a port, as "http://127.0.0.1:3128".`)
		return ""
	case u.User != nil:
		l.errorAt(f.rng("proxy"), sumBadURL, "It holds a name or a password, which would be recorded. Use a proxy on this machine that knows them.")
		return ""
	}
	return s
}

// secretValue evaluates an attribute that may be sensitive.
func (f *fields) secretValue(name string) (cty.Value, bool) {
	if a := f.attrs[name]; a != nil {
		return f.l.evaluate(a.Expr)
	}
	return cty.NilVal, false
}

func (l *loader) targetURL(f *fields, t *target, simulator bool) {
	t.hasURL = f.given("url")
	t.HasURL = t.hasURL
	if !t.hasURL {
		if f.block != nil && !simulator && t.api != plan.Exec && !f.given("command") {
			l.errorAt(f.head(), sumMissingURL, "target needs the attribute url, the server's address. "+
				"A spec with a block simulator needs none, nor does --simulate.")
		}
		return
	}
	v, ok := f.secretValue("url")
	if !ok {
		return
	}
	bare, marks := v.UnmarkDeep()
	secret := len(marks) > 0
	if bare.Type() != cty.String || bare.IsNull() {
		what := describe(bare)
		if secret || l.broken {
			what = "a sensitive value of another type"
		}
		l.errorAt(f.rng("url"), sumWrongType, "url of target must be a string in quotes; this is %s.", what)
		return
	}
	if !bare.IsKnown() {
		return
	}
	if why := badURL(bare.AsString(), secret); why != "" {
		l.errorAt(f.rng("url"), sumBadURL, "%s", why)
		return
	}
	if secret {
		s := plan.NewSecret(bare.AsString())
		t.secrets.URL = &s
		return
	}
	t.URL = bare.AsString()
}

// badURL says why a url can't be used, without quoting it.
func badURL(s string, secret bool) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return `It must be a whole address with a scheme and a host, as "http://127.0.0.1:8000".`
	case u.Fragment != "":
		return "It has a part behind a #, which no server ever sees."
	case u.User != nil && !secret:
		return "It holds a name or a password, which would be recorded. Put it into a sensitive variable, or use headers."
	default:
		return ""
	}
}

// page reads the address of a page that is read beside the target; "" where the
// file has none, or it is wrong.
func (f *fields) page(name string) string {
	if !f.given(name) {
		return ""
	}
	s := f.word(name)
	if s == "" {
		return ""
	}
	if u, err := url.Parse(s); err == nil && u.User != nil {
		f.l.errorAt(f.rng(name), sumBadURL, "It holds a name or a password, which would be recorded. Use an address that needs none.")
		return ""
	}
	if why := badURL(s, false); why != "" {
		f.l.errorAt(f.rng(name), sumBadURL, "%s", why)
		return ""
	}
	return s
}

// object evaluates an attribute to an object with known names; only what it holds
// may be sensitive.
func (l *loader) object(f *fields, name, wanted string) (map[string]cty.Value, bool) {
	v, ok := f.secretValue(name)
	if !ok || v.IsNull() && !v.IsMarked() { // null in some cells alone
		return nil, false
	}
	if v.IsMarked() {
		l.errorAt(f.rng(name), sumSensitive, "%s of %s is sensitive as a whole, its names too. Write the names in the file and only their values as variables.", name, f.kind)
		return nil, false
	}
	ty := v.Type()
	if v.IsNull() || !v.IsKnown() || !ty.IsObjectType() && !ty.IsMapType() {
		l.errorAt(f.rng(name), sumWrongType, "%s of %s must be %s; this is %s.", name, f.kind, wanted, kindOnly(v))
		return nil, false
	}
	return v.AsValueMap(), true
}

// headers decodes target.headers, in order of name.
func (l *loader) headers(f *fields, t *target) {
	if !f.given("headers") {
		return
	}
	values, ok := l.object(f, "headers", `an object of strings, as { name = "value" }`)
	if !ok {
		return
	}
	rng, seen := f.rng("headers"), map[string]bool{}
	for _, name := range sortedKeys(values) {
		bare, marks := values[name].UnmarkDeep()
		secret := len(marks) > 0
		if why := badHeader(name, bare, seen); why != "" {
			l.errorAt(rng, sumBadHeader, "The header %q: %s", clip(name), why)
			continue
		}
		h := plan.Header{Name: name, Sensitive: secret}
		switch {
		case !bare.IsKnown(): // it has no value yet, or could not be parsed
		case secret:
			t.secrets.Headers[name] = plan.NewSecret(bare.AsString())
		default:
			h.Value = bare.AsString()
			l.plainHeader(f, name, bare)
		}
		t.Headers = append(t.Headers, h)
	}
}

// badHeader says why a header can't be sent, without quoting its value.
func badHeader(name string, v cty.Value, seen map[string]bool) string {
	key := strings.ToLower(name)
	defer func() { seen[key] = true }()
	switch {
	case !regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$").MatchString(name):
		return "a name has only letters, digits and a few signs, and no space."
	case seen[key]:
		return "it stands there twice, letters of either case being the same."
	case slices.Contains([]string{"content-length", "transfer-encoding", "connection", "host", "content-type"}, key):
		return "rung sets it itself."
	case v.Type() != cty.String && v.Type() != cty.DynamicPseudoType || v.IsNull():
		return "its value must be a string in quotes."
	case v.IsKnown() && strings.ContainsFunc(v.AsString(), func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return "its value has a line break or another control character."
	default:
		return ""
	}
}

// ownKeys are the parts of a body that a plan decides, of all APIs: what one of
// them takes for the length means nothing good to another.
func ownKeys() []string {
	return []string{"ignore_eos", "input", "inputs", "max_completion_tokens", "max_tokens", "messages", "min_tokens", "model", "n", "prompt",
		"stream", "stream_options", "temperature"}
}

// targetBody decodes target.body, for one cell: an object, kept as JSON with its keys in order.
func (l *loader) targetBody(f *fields, t *target) {
	if !f.given("body") {
		return
	}
	values, ok := l.object(f, "body", `an object, as { input_type = "query" }`)
	if !ok {
		return
	}
	open := map[string]json.RawMessage{}
	for _, key := range sortedKeys(values) {
		l.bodyValue(f, t, open, key, values[key])
	}
	if len(open) > 0 {
		t.body = mustJSON(open)
	}
}

func (l *loader) bodyValue(f *fields, t *target, open map[string]json.RawMessage, key string, v cty.Value) {
	rng := f.rng("body")
	if slices.Contains(ownKeys(), key) {
		l.errorAt(rng, sumBadBody, "rung sets %q itself, from target, prompt and ladder.", key)
		return
	}
	bare, marks := v.UnmarkDeep()
	secret := len(marks) > 0
	if secret && f.refuseSecretByCell("body", key) {
		return
	}
	if secret {
		t.secretBody = append(t.secretBody, key)
	}
	if !bare.IsWhollyKnown() {
		return
	}
	b, err := ctyjson.Marshal(bare, bare.Type())
	if err != nil {
		l.errorAt(rng, sumBadBody, "%q has no form in JSON.", clip(key))
		return
	}
	if secret {
		t.secrets.Body[key] = plan.NewSecret(string(b))
		return
	}
	open[key] = b
}

// mustJSON is for types that always marshal.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("spec: a type that always marshals did not: " + err.Error())
	}
	return b
}

package sim

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rung/runner/memnet"
	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

// bench is a server in virtual time, and a client of it.
type bench struct {
	t   *testing.T
	s   *Server
	net *memnet.Net
	log *bytes.Buffer
	api plan.API
	c   *target.Client
}

// bubble serves a model to rung's own client, in virtual time.
func bubble(t *testing.T, api plan.API, p plan.Simulator, f func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, net: &memnet.Net{}, log: &bytes.Buffer{}, api: api}
		ln, _ := b.net.Listen(t.Context())
		b.s = Serve(t.Context(), ln, Config{Params: p, Seed: 1, Model: "m", Log: b.log, Listen: b.net.Listen})
		c, err := target.New(plan.Target{API: api, Model: "m", URL: b.s.URL(), Timeout: plan.Timeout{
			Connect: plan.Duration(time.Second), Request: plan.Duration(time.Hour), FirstByte: plan.Duration(time.Minute), BetweenBytes: plan.Duration(time.Minute)}}, nil, plan.Secrets{}, 64)
		if err != nil {
			t.Fatal(err)
		}
		c.DialBy(b.net.Dial)
		b.c = c
		f(t, b)
		c.Close()
		if err := b.s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// exchanged is what came of one request.
type exchanged struct {
	target.Reply
	a target.Answer
}

func (x exchanged) took() time.Duration { return x.Done.Sub(x.Sent) }

// embed asks for vectors of so many inputs of so many tokens; first makes them unlike
// others.
func (b *bench) embed(first, inputs, tokens int) exchanged {
	b.t.Helper()
	ids := make([][]int, inputs)
	for i := range ids {
		ids[i] = ramp(first+i*tokens, tokens)
	}
	body, err := b.c.EmbedIDs(ids)
	if err != nil {
		b.t.Fatal(err)
	}
	r := b.c.Send(b.t.Context(), body, 1<<20, false)
	return exchanged{r, b.c.Read(r, target.Want{Inputs: inputs, InputTokens: inputs * tokens})}
}

func ramp(first, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = first + i
	}
	return out
}

// complete asks for a completion of a prompt of ids.
func (b *bench) complete(first, input, output int, stream bool) exchanged {
	b.t.Helper()
	body, err := b.c.CompleteIDs(ramp(first, input), target.Options{OutputTokens: output, Exact: true, Stream: stream})
	if err != nil {
		b.t.Fatal(err)
	}
	return b.generated(body, input, output, stream)
}

// say asks for a chat.
func (b *bench) say(text string, o target.Options) exchanged {
	b.t.Helper()
	body, err := b.c.Chat(text, o)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.generated(body, 0, o.OutputTokens, o.Stream)
}

func (b *bench) generated(body []byte, input, output int, stream bool) exchanged {
	r := b.c.Send(b.t.Context(), body, 1<<20, stream)
	return exchanged{r, b.c.Read(r, target.Want{Inputs: 1, InputTokens: input, OutputTokens: output})}
}

// together sends several at once, in order.
func together(n int, send func(i int) exchanged) []exchanged { return begin(n, send)() }

// begin does so without waiting for the answers.
func begin(n int, send func(i int) exchanged) (end func() []exchanged) {
	out := make([]exchanged, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { out[i] = send(i) })
		synctest.Wait()
	}
	return func() []exchanged {
		wg.Wait()
		return out
	}
}

func (b *bench) want(x exchanged, o record.Outcome) {
	b.t.Helper()
	if x.a.Outcome != o {
		b.t.Errorf("outcome %s (%s), status %d, want %s", x.a.Outcome, x.a.Error, x.Status, o)
	}
}

func (b *bench) span(x exchanged, want time.Duration) {
	b.t.Helper()
	if x.took() != want {
		b.t.Errorf("took %s, want %s", x.took(), want)
	}
}

// page reads a page beside the inference APIs.
func (b *bench) page(path string) string {
	b.t.Helper()
	_, body := b.ask(http.MethodGet, path, "")
	return body
}

// post sends a body that rung's client would not, and gives the answer as it stands.
func (b *bench) post(path, body string) (status int, answer string) {
	b.t.Helper()
	return b.ask(http.MethodPost, path, body)
}

func (b *bench) ask(method, path, body string) (status int, answer string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.s.URL()+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DialContext: b.net.Dial, DisableKeepAlives: true}}).Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.StatusCode, string(got)
}

// restart starts the server anew, and lets the client see that its connections are gone.
func (b *bench) restart() {
	b.t.Helper()
	if err := b.s.Restart(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	synctest.Wait()
}

// entries is the server's log so far.
func (b *bench) entries() []Entry {
	b.t.Helper()
	synctest.Wait()
	return entries(b.t, bytes.NewBuffer(bytes.Clone(b.log.Bytes())))
}

// metric is a value of the server's own page.
func (b *bench) metric(name string) string {
	b.t.Helper()
	for line := range strings.SplitSeq(b.page("/metrics"), "\n") {
		if strings.HasPrefix(line, "vllm:"+name) {
			return line[strings.LastIndex(line, " ")+1:]
		}
	}
	b.t.Errorf("no %s", name)
	return ""
}

func fields(t *testing.T, body string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return out
}

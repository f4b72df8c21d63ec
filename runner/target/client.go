package target

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// maxPage bounds what is read of a page beside the inference API.
const maxPage = 32 << 20

// idleTimeout closes idle connections before the servers do (5 s is usual), so
// that no request meets a connection that is just being closed.
const idleTimeout = 4 * time.Second

// Client speaks to one target.
type Client struct {
	api     plan.API
	model   string
	base    *url.URL
	shown   string // the URL as it may be shown
	headers http.Header
	extra   map[string]json.RawMessage // merged into each body
	timeout plan.Timeout
	http    *http.Client
	scrub   plan.Scrubber
	program *program // in place of http, where the target is a program
}

// New makes a client for at most inFlight requests at a time; body, a JSON object or
// nothing, is merged into each request's. The target's URL
// must be set, in the plan or among the secrets. Errors name the URL unless it is
// sensitive.
func New(t plan.Target, body json.RawMessage, secrets plan.Secrets, inFlight int) (*Client, error) {
	c := &Client{api: t.API, model: t.Model, base: &url.URL{}, headers: http.Header{}, timeout: t.Timeout, extra: map[string]json.RawMessage{}, scrub: secrets.Scrubber()}
	if t.API == plan.Exec {
		if len(t.Command) == 0 {
			return nil, errors.New("target.command is empty: it is the program that is called")
		}
		c.program, c.shown = newProgram(t.Command), "the program "+t.Command[0]
	} else if err := c.address(t, secrets); err != nil {
		return nil, err
	}
	for _, h := range t.Headers {
		value := h.Value
		if h.Sensitive {
			value = secrets.Headers[h.Name].Reveal()
		}
		c.headers.Set(h.Name, value)
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &c.extra); err != nil {
			return nil, fmt.Errorf("target.body is no JSON object: %w", err)
		}
	}
	for name, v := range secrets.Body {
		c.extra[name] = json.RawMessage(v.Reveal())
	}
	known, err := TLS(t.TLS)
	if err != nil {
		return nil, err
	}
	c.http = &http.Client{
		Transport: transport(t, known, inFlight),
		// A redirect would measure another server than the one declared.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// address takes over the URL.
func (c *Client) address(t plan.Target, secrets plan.Secrets) error {
	raw, shown := t.URL, t.URL
	if secrets.URL != nil {
		raw, shown = secrets.URL.Reveal(), secrets.URL.String()
	}
	base, err := url.Parse(raw)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return fmt.Errorf("target.url %q is no http or https address: write it as \"http://127.0.0.1:8000\"", shown)
	}
	c.base, c.shown = base, shown
	if base.User != nil {
		c.shown = base.Redacted()
	}
	return nil
}

// transport is HTTP/1.1 with one idle connection kept for each request in
// flight, no proxy but the one that the spec declares, and no compression.
func transport(t plan.Target, known *tls.Config, inFlight int) *http.Transport {
	connect := t.Timeout.Connect.D()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	out := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: connect}).DialContext,
		TLSHandshakeTimeout: connect,
		TLSClientConfig:     known,
		MaxIdleConnsPerHost: max(2, inFlight),
		MaxIdleConns:        0,
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true,
		Protocols:           protocols,
		WriteBufferSize:     64 << 10,
		ReadBufferSize:      64 << 10,
	}
	if proxy, err := url.Parse(t.Proxy); err == nil && t.Proxy != "" {
		out.Proxy = http.ProxyURL(proxy)
	}
	return out
}

// Dial opens a connection as net.Dialer.DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// DialBy replaces the way to the server. It is for tests that need no network,
// and is called before the first request.
func (c *Client) DialBy(dial Dial) {
	if t, ok := c.http.Transport.(*http.Transport); ok {
		t.DialContext = dial
	}
}

// Close drops idle connections, and ends a program.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	if c.program != nil {
		c.program.turn <- struct{}{}
		defer func() { <-c.program.turn }()
		c.program.stop(stopGrace)
	}
}

// Fresh drops the idle connections, so that what follows is sent on a new one.
func (c *Client) Fresh() { c.http.CloseIdleConnections() }

// API is the dialect that the client speaks.
func (c *Client) API() plan.API { return c.api }

// Shown is the target's address as it may be shown.
func (c *Client) Shown() string { return c.shown }

// path joins a path of the API to the base URL. A base that ends in /v1 is taken
// as the one that holds the OpenAI paths, as clients of that API have it; every p
// here begins at the server's root.
func (c *Client) path(p string) string {
	u := *c.base
	root := strings.TrimSuffix(u.Path, "/")
	root = strings.TrimSuffix(root, "/v1")
	u.Path = root + p
	return u.String()
}

// Reply is what came of one send, not yet looked at.
type Reply struct {
	Begun     time.Time // when its turn was
	Sent      time.Time // when it had a connection; where it got none, when its turn was
	FirstByte time.Time // of the header; zero where none came
	Done      time.Time
	Status    int // 0 where no answer came
	Header    http.Header
	Protocol  string
	Body      []byte
	Arrivals  []Arrival // of a stream: when what had come; nil for an answer that was read whole
	Err       error
	Stage     record.Stage // how far a failed exchange came, or which time was up
	Reused    bool         // on a connection that was used before
}

// mostBreak is how long it may take to find that the server had closed a connection
// before it was used again: the way there and back, and a server that is too busy to
// say so at once. One that dies of a request in that time dies of it once more, when it
// is sent again.
const mostBreak = 2 * time.Second

// BrokeIdle says whether the exchange met a connection that the server had closed
// while it lay idle, be it for a moment, as some do after each stream: it was used
// before, and broke at once, before any answer.
func (r Reply) BrokeIdle() bool {
	return r.Err != nil && r.Done.Sub(r.Sent) <= mostBreak && r.Reused && r.Stage == record.StageFirstByte && r.Status == 0 && classifyError(r) == record.Reset
}

// Send sends one body to the API's path and reads the answer, within the target's
// times and up to a limit in bytes; stream says that the answer comes in chunks,
// whose times are noted. Every failure is in the Reply.
func (c *Client) Send(ctx context.Context, body []byte, limit int64, stream bool) Reply {
	if c.program != nil {
		return c.program.exchange(ctx, body, limit, c.timeout.Request.D())
	}
	return c.exchange(ctx, http.MethodPost, c.path(c.apiPath()), body, limit, stream)
}

func (c *Client) apiPath() string {
	switch c.api {
	case plan.OpenAIChat:
		return "/v1/chat/completions"
	case plan.OpenAICompletions:
		return "/v1/completions"
	case plan.TEIEmbed:
		return "/embed"
	default:
		return "/v1/embeddings"
	}
}

func (c *Client) exchange(ctx context.Context, method, address string, body []byte, limit int64, stream bool) (r Reply) {
	w := newWatch(ctx, c.timeout.Request.D())
	defer w.end()
	r.Stage = record.StageConnect
	ctx = httptrace.WithClientTrace(w.ctx, &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			r.Reused, r.Stage, r.Sent = i.Reused, record.StageFirstByte, time.Now()
		},
	})
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		r.Err = err
		return r
	}
	req.GetBody = nil
	maps.Copy(req.Header, c.headers)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	if stream {
		w.quiet(record.StageFirstByte, c.timeout.FirstByte.D())
	}
	r.Begun = time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		r.Done = time.Now()
		if r.Sent.IsZero() {
			r.Sent = r.Begun
		}
		r.Stage, r.Err = w.why(r.Stage, err)
		return r
	}
	r.FirstByte = time.Now()
	r.Status, r.Header, r.Protocol = resp.StatusCode, resp.Header, resp.Proto
	if stream && r.Status == http.StatusOK {
		r.Body, r.Arrivals, r.Err = readStream(resp, limit, func() { w.quiet(record.StageBetween, c.timeout.BetweenBytes.D()) })
		if r.Arrivals != nil {
			r.Stage = record.StageBetween
		}
	} else {
		r.Stage = record.StageBetween
		r.Body, r.Err = readAll(resp, limit)
	}
	r.Done = time.Now()
	if r.Err != nil {
		r.Stage, r.Err = w.why(r.Stage, r.Err)
	}
	return r
}

var errTooLarge = errors.New("the answer is larger than rung reads")

func readAll(resp *http.Response, limit int64) ([]byte, error) {
	defer resp.Body.Close() //nolint:errcheck // read to its end or given up; nothing is left to lose
	var buf bytes.Buffer
	if n := resp.ContentLength; n > 0 && n <= limit {
		buf.Grow(int(n) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(resp.Body, limit+1))
	if n > limit {
		return buf.Bytes()[:min(n, errorBytes)], errTooLarge
	}
	return buf.Bytes(), err
}

// get asks for a JSON page beside the inference API and decodes it into out.
func (c *Client) get(ctx context.Context, path string, out any) (Reply, error) {
	return c.page(ctx, http.MethodGet, path, nil, out)
}

func (c *Client) page(ctx context.Context, method, path string, body []byte, out any) (Reply, error) {
	r := c.exchange(ctx, method, c.path(path), body, maxPage, false)
	if r.BrokeIdle() {
		r = c.exchange(ctx, method, c.path(path), body, maxPage, false)
	}
	switch {
	case r.Err != nil:
		return r, r.Err
	case r.Status != http.StatusOK:
		return r, fmt.Errorf("%s %s: status %d: %s", method, path, r.Status, c.said(r.Body, 200))
	}
	if err := json.Unmarshal(r.Body, out); err != nil {
		return r, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return r, nil
}

// merged is a body: the API's own fields and, over them, target.body's.
func (c *Client) merged(fields map[string]any) ([]byte, error) {
	for _, name := range slices.Sorted(maps.Keys(c.extra)) {
		fields[name] = c.extra[name]
	}
	b, err := json.Marshal(fields) // keys in order: the same request, the same bytes
	if err != nil {
		return nil, fmt.Errorf("request body: %w", err)
	}
	return b, nil
}

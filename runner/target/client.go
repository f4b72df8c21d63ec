package target

import (
	"bytes"
	"context"
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
	timeout time.Duration
	http    *http.Client
}

// New makes a client for at most inFlight requests at a time; body, a JSON object or
// nothing, is merged into each request's. The target's URL
// must be set, in the plan or among the secrets. Errors name the URL unless it is
// sensitive.
func New(t plan.Target, body json.RawMessage, secrets plan.Secrets, inFlight int) (*Client, error) {
	raw, shown := t.URL, t.URL
	if secrets.URL != nil {
		raw, shown = secrets.URL.Reveal(), secrets.URL.String()
	}
	base, err := url.Parse(raw)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("target.url %q is no http or https address: write it as \"http://127.0.0.1:8000\"", shown)
	}
	c := &Client{api: t.API, model: t.Model, base: base, shown: shown, headers: http.Header{}, timeout: t.Timeout.Request.D(), extra: map[string]json.RawMessage{}}
	if base.User != nil {
		c.shown = base.Redacted()
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
	c.http = &http.Client{
		Transport: transport(t.Timeout.Connect.D(), inFlight),
		// A redirect would measure another server than the one declared.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// transport is HTTP/1.1 with one idle connection kept for each request in
// flight, no proxy from the environment and no compression.
func transport(connect time.Duration, inFlight int) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: connect}).DialContext,
		TLSHandshakeTimeout: connect,
		MaxIdleConnsPerHost: max(2, inFlight),
		MaxIdleConns:        0,
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true,
		Protocols:           protocols,
		WriteBufferSize:     64 << 10,
		ReadBufferSize:      64 << 10,
	}
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

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

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
	Sent      time.Time
	FirstByte time.Time // zero where none came
	Done      time.Time
	Status    int // 0 where no answer came
	Header    http.Header
	Body      []byte
	Err       error
	Stage     record.Stage // how far a failed exchange came
	Reused    bool         // on a connection that was used before
}

// Send sends one body to the API's path and reads the answer whole, within the
// request timeout and up to a limit in bytes. Every failure is in the Reply.
func (c *Client) Send(ctx context.Context, body []byte, limit int64) Reply {
	return c.exchange(ctx, http.MethodPost, c.path(c.apiPath()), body, limit)
}

func (c *Client) apiPath() string {
	if c.api == plan.OpenAIChat {
		return "/v1/chat/completions"
	}
	return "/v1/embeddings"
}

func (c *Client) exchange(ctx context.Context, method, address string, body []byte, limit int64) (r Reply) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r.Stage = record.StageConnect
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) { r.Reused, r.Stage = i.Reused, record.StageFirstByte },
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
	r.Sent = time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		r.Done, r.Err = time.Now(), err
		return r
	}
	r.FirstByte = time.Now()
	r.Status, r.Header, r.Stage = resp.StatusCode, resp.Header, record.StageBody
	r.Body, r.Err = readAll(resp, limit)
	r.Done = time.Now()
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
	r := c.exchange(ctx, method, c.path(path), body, maxPage)
	switch {
	case r.Err != nil:
		return r, r.Err
	case r.Status != http.StatusOK:
		return r, fmt.Errorf("%s %s: status %d: %s", method, path, r.Status, Excerpt(r.Body, 200))
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

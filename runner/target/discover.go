package target

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"rung/sinks/record"
)

// maxModels bounds how many names of models are kept.
const maxModels = 64

// ErrUnreachable says that no answer came at all.
var ErrUnreachable = errors.New("the server can't be reached")

// Discovery is what the server says of itself.
type Discovery struct {
	Server     record.Server
	Vocabulary int  // number of token ids; 0 where it was not said
	ListsModel bool // it has a list of models at all
}

// Discover asks for the model list, which finds a wrong address, a refused key
// and a model that the server does not have: several servers answer any name.
// A server without such a list is taken as it is.
func (c *Client) Discover(ctx context.Context) (Discovery, error) {
	if c.program != nil { // it has the model that it has
		return Discovery{ListsModel: true, Server: record.Server{Software: c.shown}}, c.Ping(ctx)
	}
	var page struct {
		Data []struct {
			ID          string `json:"id"`
			MaxModelLen *int   `json:"max_model_len"`
			OwnedBy     string `json:"owned_by"`
			Aliases     []string
			Meta        struct {
				NCtx   *int `json:"n_ctx"`
				NVocab int  `json:"n_vocab"`
			} `json:"meta"`
		} `json:"data"`
	}
	r, err := c.get(ctx, "/v1/models", &page)
	if err != nil {
		if d, ok, infoErr := c.info(ctx, r); ok {
			return d, infoErr
		}
		return Discovery{Server: record.Server{Software: c.software(r.Header, "")}}, c.discoveryError(r, err)
	}
	d := Discovery{ListsModel: true}
	for _, m := range page.Data[:min(len(page.Data), maxModels)] {
		d.Server.Models = append(d.Server.Models, c.said([]byte(m.ID), 200))
	}
	for _, m := range page.Data {
		if m.ID != c.model && !slices.Contains(m.Aliases, c.model) {
			continue
		}
		d.Server.MaxModelLen, d.Vocabulary = positive(m.MaxModelLen), m.Meta.NVocab
		if d.Server.MaxModelLen == nil {
			d.Server.MaxModelLen = positive(m.Meta.NCtx)
		}
		d.Server.Software = c.software(r.Header, m.OwnedBy)
		d.Server.Version = c.version(ctx)
		return d, nil
	}
	return d, fmt.Errorf("the server at %s has no model %q: it lists %s; set target.model to one of them", c.shown, c.model, quoted(d.Server.Models, len(page.Data)))
}

// info asks TEI, which has no list of models but a page about itself. models is its
// answer to the question for that list; ok is false where this is no such server.
func (c *Client) info(ctx context.Context, models Reply) (d Discovery, ok bool, err error) {
	if models.Status != http.StatusNotFound {
		return d, false, nil
	}
	var page struct {
		ID            string `json:"model_id"`
		Served        string `json:"served_model_name"`
		Version       string `json:"version"`
		MaxInput      *int   `json:"max_input_length"`
		MaxBatch      *int   `json:"max_client_batch_size"`
		MaxConcurrent *int   `json:"max_concurrent_requests"`
	}
	if _, err := c.get(ctx, "/info", &page); err != nil || page.ID == "" {
		return d, false, nil //nolint:nilerr // then it is no TEI
	}
	d = Discovery{ListsModel: true, Server: record.Server{
		Software: "text-embeddings-inference", Version: c.said([]byte(page.Version), 100), Models: []string{c.said([]byte(page.ID), 200)},
		MaxModelLen: positive(page.MaxInput), MaxBatch: positive(page.MaxBatch), MaxConcurrent: positive(page.MaxConcurrent),
	}}
	if page.Served != page.ID && page.Served != "" {
		d.Server.Models = append(d.Server.Models, c.said([]byte(page.Served), 200))
	}
	if !slices.Contains(d.Server.Models, c.model) {
		return d, true, fmt.Errorf("the server at %s has no model %q: it serves %s; set target.model to that", c.shown, c.model, quoted(d.Server.Models, len(d.Server.Models)))
	}
	return d, true, nil
}

// positive is a limit, or nil where what was said can't be one.
func positive(n *int) *int {
	if n == nil || *n <= 0 {
		return nil
	}
	return n
}

// discoveryError names what stands in the way, or is nil where the server
// merely has no list of models.
func (c *Client) discoveryError(r Reply, err error) error {
	switch {
	case r.Err != nil:
		why := c.Read(r, Want{})
		hint := "is it started, and is target.url right?"
		if strings.Contains(why.Error, "x509:") {
			hint = "target.tls.ca names whose certificates are to be trusted"
		}
		return fmt.Errorf("%w: %s: %s (%s); %s", ErrUnreachable, c.shown, why.Error, why.Outcome, hint)
	case r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden:
		return fmt.Errorf("the server at %s refused the key: status %d: %s; look at target.headers", c.shown, r.Status, c.said(r.Body, 200))
	case r.Status == http.StatusNotFound || r.Status == http.StatusMethodNotAllowed || r.Status == http.StatusNotImplemented:
		return nil
	case r.Status != http.StatusOK:
		return fmt.Errorf("the server at %s does not answer for its models: %w", c.shown, err)
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("what answers at %s is no inference server: its /v1/models is no JSON: %s; look at target.url", c.shown, c.said(r.Body, 120))
	}
	return fmt.Errorf("the server at %s: %w", c.shown, err)
}

// Ping is nil where the server answers anything at all. A program is started where it
// does not run.
func (c *Client) Ping(ctx context.Context) error {
	if c.program != nil {
		c.program.turn <- struct{}{}
		defer func() { <-c.program.turn }()
		return c.program.start()
	}
	return c.exchange(ctx, http.MethodGet, c.path("/v1/models"), nil, maxPage, false).Err
}

// Ready is nil where the server answers, and does not say that it is not there yet.
func (c *Client) Ready(ctx context.Context) error {
	r := c.exchange(ctx, http.MethodGet, c.path("/v1/models"), nil, maxPage, false)
	if r.Err == nil && (r.Status == http.StatusServiceUnavailable || r.Status == http.StatusBadGateway) {
		return fmt.Errorf("status %d: %s", r.Status, c.said(r.Body, 200))
	}
	return r.Err
}

// Address is the host and the port that the client speaks to, and the root of the
// server's pages.
func (c *Client) Address() (hostPort, root string) {
	port := c.base.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[c.base.Scheme]
	}
	hostPort = net.JoinHostPort(c.base.Hostname(), port)
	return hostPort, c.base.Scheme + "://" + hostPort
}

func (c *Client) version(ctx context.Context) string {
	var page struct {
		Version string `json:"version"`
	}
	if _, err := c.get(ctx, "/version", &page); err != nil {
		return ""
	}
	return c.said([]byte(page.Version), 100)
}

// software names the server by its Server header or, where that is the web
// framework's, by the owner of its model.
func (c *Client) software(h http.Header, owner string) string {
	name := c.said([]byte(h.Get("Server")), 100)
	if owner != "" && (name == "" || name == "uvicorn") {
		return c.said([]byte(owner), 100)
	}
	return name
}

// quoted lists some of the names.
func quoted(names []string, all int) string {
	const most = 8
	if len(names) == 0 {
		return "none"
	}
	out := make([]string, 0, most+1)
	for _, n := range names[:min(len(names), most)] {
		out = append(out, fmt.Sprintf("%q", n))
	}
	if more := all - len(out); more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}

package metrics

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"rung/sinks/record"
	"rung/spec/plan"
)

// maxSeries bounds the rows of one reading.
const maxSeries = 2000

// Reader reads the page of a run's server. It implements rung/runner.MetricsReader.
type Reader struct {
	page  *Page
	shown string
}

// New makes a reader of what the plan's metrics block declares. Only a page at the
// target's own address gets the target's headers, which may hold a key, and known, how an
// https target is known.
func New(p plan.Plan, secrets plan.Secrets, known *tls.Config) (*Reader, error) {
	raw := p.Target.URL
	if secrets.URL != nil {
		raw = secrets.URL.Reveal()
	}
	address, own, err := where(*p.Metrics, raw)
	if err != nil {
		return nil, err
	}
	headers, proxy := http.Header{}, ""
	if !own {
		known = nil
	} else {
		proxy = p.Target.Proxy
		for _, h := range p.Target.Headers {
			value := h.Value
			if h.Sensitive {
				value = secrets.Headers[h.Name].Reveal()
			}
			headers.Set(h.Name, value)
		}
	}
	scrub := secrets.Scrubber()
	shown := address.Redacted()
	if secrets.URL != nil && own {
		shown = secrets.URL.String()
	}
	return &Reader{page: NewPage(address.String(), headers, proxy, known, scrub), shown: string(scrub.Clean([]byte(shown)))}, nil
}

// where is the page's address, and whether it is the target's own.
func where(m plan.Metrics, target string) (address *url.URL, own bool, err error) {
	base, err := url.Parse(target)
	if err != nil || m.URL == "" && base.Host == "" {
		return nil, false, errors.New("metrics: the target has no address that the page could be at; give metrics.url")
	}
	if m.URL == "" {
		u := *base
		// A base that ends in /v1 holds the OpenAI paths; the page is at the server's root.
		u.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/"), "/v1") + m.Path
		u.RawPath, u.RawQuery, u.Fragment = "", "", ""
		return &u, true, nil
	}
	u, err := url.Parse(m.URL)
	if err != nil || u.Host == "" {
		return nil, false, errors.New("metrics.url is no http or https address")
	}
	return u, u.Scheme == base.Scheme && strings.EqualFold(u.Host, base.Host), nil
}

// Shown is the page's address as it may be shown.
func (r *Reader) Shown() string { return r.shown }

// DialBy replaces the way to the server. It is for tests that need no network.
func (r *Reader) DialBy(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	r.page.DialBy(dial)
}

// Close drops the connection.
func (r *Reader) Close() { r.page.Close() }

// Read reads the page once: the known series first, then the others by their names.
// It fills everything of a sample but its place and its times.
func (r *Reader) Read(ctx context.Context) ([]record.ServerSample, error) {
	series, err := r.page.Series(ctx)
	if err != nil {
		return nil, err
	}
	return samples(series), nil
}

func samples(series []Series) []record.ServerSample {
	out, taken := canonical(series)
	dropped := 0
	for _, s := range series {
		switch {
		case taken[s.Name] || noise(s):
		case len(out) >= maxSeries:
			dropped++
		default:
			out = append(out, record.ServerSample{Series: s.Name, Source: s.Name, Labels: s.labels(), Kind: s.Kind, Value: finite(s.Value)})
		}
	}
	if dropped > 0 {
		out = append(out, record.ServerSample{Series: "dropped_series", Kind: record.Gauge, Value: new(float64(dropped))})
	}
	return out
}

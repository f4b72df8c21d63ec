package metrics

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"time"

	"rung/spec/plan"
)

// maxPage bounds a page, in bytes. A vLLM with all its histograms has 60 KiB.
const maxPage = 8 << 20

// idleTimeout closes an idle connection before the servers do.
const idleTimeout = 4 * time.Second

// maxSaid bounds what an error says, in bytes.
const maxSaid = 300

// Page is the address of a page in Prometheus's text form.
type Page struct {
	url     string
	headers http.Header
	client  *http.Client
	scrub   plan.Scrubber
}

// NewPage is the page at an http or https address, asked for with the given headers,
// through the proxy where it is not empty. known says how an https address is known; nil:
// by the system's authorities. scrub cleans all that is handed on.
func NewPage(address string, headers http.Header, proxy string, known *tls.Config, scrub plan.Scrubber) *Page {
	t := &http.Transport{DialContext: (&net.Dialer{}).DialContext, MaxIdleConns: 1, IdleConnTimeout: idleTimeout, DisableCompression: true, TLSClientConfig: known}
	if by, err := url.Parse(proxy); err == nil && proxy != "" {
		t.Proxy = http.ProxyURL(by)
	}
	return &Page{url: address, headers: headers, scrub: scrub, client: &http.Client{
		Transport: t,
		// The headers may hold a key, which is for the declared address alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// DialBy replaces the way to the server. It is for tests that need no network.
func (p *Page) DialBy(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	if t, ok := p.client.Transport.(*http.Transport); ok {
		t.DialContext = dial
	}
}

// Close drops the connection.
func (p *Page) Close() { p.client.CloseIdleConnections() }

// Series reads the page once. Its time is bounded by ctx alone.
func (p *Page) Series(ctx context.Context) ([]Series, error) {
	b, err := p.fetch(ctx)
	if err != nil {
		return nil, errors.New(p.clean(err.Error(), maxSaid))
	}
	series, err := parse(b)
	if err != nil {
		return nil, errors.New(p.clean(err.Error(), maxSaid))
	}
	for i := range series {
		series[i].clean(p.clean)
	}
	return series, nil
}

func (p *Page) fetch(ctx context.Context) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	if err != nil {
		return nil, errors.New("its address can't be asked")
	}
	maps.Copy(req.Header, p.headers)
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	begun := time.Now()
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, failure(ctx, err, begun)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end or given up; nothing is left to lose
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	if resp.ContentLength > maxPage {
		return nil, tooLarge()
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	switch {
	case err != nil:
		return nil, failure(ctx, err, begun)
	case len(b) > maxPage:
		return nil, tooLarge()
	}
	return b, nil
}

func tooLarge() error { return fmt.Errorf("the page is larger than %d MiB", maxPage>>20) }

// failure says why the page did not come, without its address, which may be a secret.
func failure(ctx context.Context, err error, begun time.Time) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("the page was not there after %s", time.Since(begun).Round(time.Millisecond))
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// clean takes the secrets out of a text before it is cut to a length in bytes: half a
// secret would not be found. What is left is valid UTF-8.
func (p *Page) clean(s string, most int) string {
	b := bytes.ToValidUTF8(p.scrub.Clean([]byte(s)), []byte("\uFFFD"))
	if len(b) > most {
		b = bytes.ToValidUTF8(b[:most], nil)
	}
	return string(b)
}

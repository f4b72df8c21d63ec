package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"rung/spec/plan"
)

// Config is what a server is made of.
type Config struct {
	Params plan.Simulator
	Seed   int64
	Model  string
	Log    io.Writer // JSON lines, one an inference request; nil: none
}

// Server is a running simulated server.
type Server struct {
	cfg    Config
	card   *Card
	engine *engine
	log    journal
	http   *http.Server
	ln     net.Listener
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	closing bool
	serving sync.WaitGroup // requests that are being answered
}

// Start serves on addr, which must be a loopback address ("127.0.0.1:0" takes a
// free port).
func Start(ctx context.Context, addr string, cfg Config) (*Server, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("simulated server: address %q: %w", addr, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("simulated server: address %q is not on loopback: use 127.0.0.1 or [::1]", addr)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("simulated server: %w", err)
	}
	return Serve(ctx, ln, cfg), nil
}

// Serve serves on a listener, until Close or the context's end.
func Serve(ctx context.Context, ln net.Listener, cfg Config) *Server {
	ctx, cancel := context.WithCancel(ctx)
	s := &Server{cfg: cfg, card: NewCard(cfg.Params), ln: ln, cancel: cancel}
	s.engine = newEngine(cfg.Params, s.card, cfg.Seed)
	s.log.write = func(Entry) {}
	if cfg.Log != nil {
		enc := json.NewEncoder(cfg.Log)
		// A log that can't be written must not change what the server does.
		s.log.write = func(e Entry) { _ = enc.Encode(e) }
	}
	s.http = &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: 30 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	context.AfterFunc(ctx, func() { _ = s.http.Close() }) // its error is Close's to tell
	s.wg.Go(func() { s.engine.run(ctx) })
	s.wg.Go(func() { _ = s.http.Serve(ln) }) // ends with http.ErrServerClosed
	return s
}

// URL is the server's base address.
func (s *Server) URL() string { return "http://" + s.ln.Addr().String() }

// Card is the server's GPU.
func (s *Server) Card() *Card { return s.card }

// counted keeps count of the requests that are being answered, so that none is
// left when Close returns: the log is whole then.
func (s *Server) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		closing := s.closing
		if !closing {
			s.serving.Add(1)
		}
		s.mu.Unlock()
		if closing {
			panic(http.ErrAbortHandler)
		}
		defer s.serving.Done()
		h.ServeHTTP(w, r)
	})
}

// Close ends the server and waits for its goroutines. What was not answered yet
// gets no answer.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.cancel()
	err := s.http.Close()
	s.wg.Wait()
	s.serving.Wait()
	if err != nil {
		return fmt.Errorf("simulated server: %w", err)
	}
	return nil
}

package sim

import (
	"context"
	"errors"
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

	// Listen opens the listener anew when the server is started again; nil: it can't be.
	// Start has one of its own.
	Listen func(context.Context) (net.Listener, error)

	// Gather is how long a free card waits for what comes at the same instant, which it
	// then puts in an order of its own. 0: it takes what comes first. In virtual time
	// many requests come at one instant, in an order that the scheduler decides.
	Gather time.Duration
}

// Server is a running simulated server.
type Server struct {
	cfg   Config
	card  *Card
	log   *journal
	addr  net.Addr
	begun time.Time
	//nolint:containedctx // the server's own, from which each process's comes
	ctx    context.Context
	cancel context.CancelFunc
	faults faults

	mu     sync.Mutex
	now    *process
	closed bool
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
	taken := ln.Addr().String()
	cfg.Listen = func(ctx context.Context) (net.Listener, error) { return lc.Listen(ctx, "tcp", taken) }
	return Serve(ctx, ln, cfg), nil
}

// Serve serves on a listener, until Close or the context's end.
func Serve(ctx context.Context, ln net.Listener, cfg Config) *Server {
	s := &Server{cfg: cfg, card: NewCard(cfg.Params), log: newJournal(cfg.Log), addr: ln.Addr(), begun: time.Now()}
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.now = s.launch(ln)
	return s
}

// URL is the server's base address.
func (s *Server) URL() string { return "http://" + s.addr.String() }

// Card is the server's GPU.
func (s *Server) Card() *Card { return s.card }

// since is a moment on the server's own clock.
func (s *Server) since(t time.Time) float64 { return t.Sub(s.begun).Seconds() }

var errNoRestart = errors.New("simulated server: it can't be started again: it is closed, or was given a listener alone")

// Restart ends the process, where it still lives, and starts a fresh one at the same
// address: with the memory of a loaded model, an empty cache and nothing compiled.
// What was under way gets no answer.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	old, closed := s.now, s.closed
	s.mu.Unlock()
	if closed || s.cfg.Listen == nil {
		return errNoRestart
	}
	old.end()
	old.wait()
	ln, err := s.cfg.Listen(ctx)
	if err != nil {
		return fmt.Errorf("simulated server: %w", err)
	}
	s.card.load()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.Join(errNoRestart, ln.Close())
	}
	s.now = s.launch(ln)
	return nil
}

// Alive says whether the process lives: a fault or a lack of memory may have ended it.
func (s *Server) Alive() bool {
	s.mu.Lock()
	p := s.now
	s.mu.Unlock()
	return !p.ended()
}

// Exited says how the process ended by itself; empty where it lives.
func (s *Server) Exited() string {
	if s.Alive() {
		return ""
	}
	return "the simulated process ended"
}

// Close ends the server and waits for its goroutines. What was not answered yet
// gets no answer.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	p := s.now
	s.mu.Unlock()
	s.cancel()
	p.end()
	p.wait()
	if p.closing != nil {
		return fmt.Errorf("simulated server: %w", p.closing)
	}
	return nil
}

// process is one life of the server: from a start to a death, a restart or the end.
type process struct {
	s      *Server
	engine *engine
	http   *http.Server
	cancel context.CancelFunc
	wg     sync.WaitGroup
	once   sync.Once

	mu      sync.Mutex
	over    bool
	closing error          // of the listener
	serving sync.WaitGroup // requests that are being answered
}

func (s *Server) launch(ln net.Listener) *process {
	ctx, cancel := context.WithCancel(s.ctx)
	p := &process{s: s, cancel: cancel, engine: newEngine(s.cfg.Params, s.card, s.cfg.Seed)}
	p.engine.gather = s.cfg.Gather
	p.http = &http.Server{
		Handler:           p.counted(p.handler()),
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       idleTimeout(s.cfg.Params),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	context.AfterFunc(ctx, p.end)
	p.wg.Go(func() { p.engine.run(ctx) })
	p.wg.Go(func() { _ = p.http.Serve(ln) }) // ends with http.ErrServerClosed
	return p
}

// end breaks all connections and refuses new ones. It waits for nothing, so that a
// request's own handler may call it.
func (p *process) end() {
	p.once.Do(func() {
		p.mu.Lock()
		p.over = true
		p.mu.Unlock()
		p.cancel()
		err := p.http.Close()
		p.mu.Lock()
		p.closing = err
		p.mu.Unlock()
	})
}

func (p *process) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

func (p *process) wait() {
	p.wg.Wait()
	p.serving.Wait()
}

// die is the end of a process that takes its memory with it.
func (p *process) die() {
	p.end()
	p.s.card.unload()
}

// counted keeps count of the requests that are being answered, so that none is
// left when Close returns: the log is whole then.
func (p *process) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		over := p.over
		if !over {
			p.serving.Add(1)
		}
		p.mu.Unlock()
		if over {
			panic(http.ErrAbortHandler)
		}
		defer p.serving.Done()
		h.ServeHTTP(w, r)
	})
}

package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"rung/runner/proc"
	"rung/spec/plan"
)

// Config is what a server is started from.
type Config struct {
	Server  plan.Server
	Secrets plan.Secrets // the values of sensitive variables of its environment
	Folder  string       // of the spec: Server.Dir is relative to it
	Address string       // host:port at which it will listen
	Shown   string       // the same, as it may be shown
	Page    string       // the address under which Server.Ready.Path stands
	Ping    func(context.Context) error
	Log     io.Writer
	Line    func(string)  // is given each line of the log; nil: nobody
	Began   func(pid int) // is told of each process that is started, the leader of its group; nil: nobody
	Say     func(format string, args ...any)
}

// Server is one that was started.
type Server struct {
	cfg  Config
	line *regexp.Regexp // that says it is ready; nil: none
	log  *journal

	mu   sync.Mutex
	now  *process // nil: not running
	quit bool
}

// process is one life of the server.
type process struct {
	cmd   *exec.Cmd
	out   *output
	ended chan struct{} // closed when it was waited for
	err   error         // how it ended; set before ended is closed
}

// How often readiness is asked for, and how long one question may take.
const (
	askEvery = 200 * time.Millisecond
	askTime  = 5 * time.Second
)

// Start starts the server and waits until it is ready.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, log: &journal{to: cfg.Log}}
	if text := cfg.Server.Ready.Log; text != "" {
		line, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("server.ready.log: %w", err)
		}
		s.line = line
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Restart ends the server and starts it anew. It returns when it is ready.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	old := s.now
	s.mu.Unlock()
	if old != nil {
		old.stop(s.cfg.Server.Grace.D())
	}
	return s.begin(ctx)
}

// Close ends the server with all that it started.
func (s *Server) Close() error {
	s.mu.Lock()
	s.quit = true
	p := s.now
	s.mu.Unlock()
	if p != nil {
		p.stop(s.cfg.Server.Grace.D())
	}
	return nil
}

// Exited says how the server ended by itself, with its last lines; "" where it runs.
func (s *Server) Exited() string {
	s.mu.Lock()
	p := s.now
	s.mu.Unlock()
	if p == nil {
		return ""
	}
	select {
	case <-p.ended:
		return p.howEnded()
	default:
		return ""
	}
}

// begin starts a process and waits until it is ready.
func (s *Server) begin(ctx context.Context) error {
	if connects(ctx, s.cfg.Address) {
		return fmt.Errorf("something listens at %s already, where the server is to listen: end it, or give the server another port in its command and in target.url", s.cfg.Shown)
	}
	p, err := s.launch()
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.now = p
	quit := s.quit
	s.mu.Unlock()
	if quit {
		p.stop(0)
		return errors.New("the run is over")
	}
	if err := s.await(ctx, p); err != nil {
		p.stop(s.cfg.Server.Grace.D())
		return err
	}
	return nil
}

// launch starts the command in a group of its own.
func (s *Server) launch() (*process, error) {
	command := s.cfg.Server.Command
	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec,noctx // the command is the spec's, which says what is run; stop ends it
	cmd.Dir = s.cfg.dir()
	cmd.Env = s.cfg.environment()
	proc.OwnGroup(cmd)
	p := &process{cmd: cmd, out: newOutput(s.cfg, s.log, s.line), ended: make(chan struct{})}
	// A pipe of its own: Wait must not wait for what the server started and left.
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	s.cfg.Say("starting the server: %s", strings.Join(command, " "))
	if err := cmd.Start(); err != nil {
		_, _ = r.Close(), w.Close()
		return nil, fmt.Errorf("server.command: %w", err)
	}
	_ = w.Close() // the server has it
	if s.cfg.Began != nil {
		s.cfg.Began(cmd.Process.Pid)
	}
	go p.out.read(r)
	go func() {
		p.err = cmd.Wait()
		p.out.settle()
		close(p.ended)
	}()
	return p, nil
}

func (c Config) dir() string {
	switch {
	case c.Server.Dir == "":
		return ""
	case strings.HasPrefix(c.Server.Dir, "/"):
		return c.Server.Dir
	default:
		return c.Folder + "/" + c.Server.Dir
	}
}

// environment is rung's own and, over it, what the spec sets.
func (c Config) environment() []string {
	env := slices.Clone(os.Environ())
	for _, v := range c.Server.Env {
		value := v.Value
		if v.Sensitive {
			value = c.Secrets.Env[v.Name].Reveal()
		}
		env = append(env, v.Name+"="+value)
	}
	return env
}

// await waits until the server is ready, has ended, or its time is up.
func (s *Server) await(ctx context.Context, p *process) error {
	most := s.cfg.Server.Ready.Timeout.D()
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	t := time.NewTicker(askEvery)
	defer t.Stop()
	missing := ""
	for {
		now := s.missing(ctx, p)
		if now == "" {
			return nil
		}
		if ctx.Err() == nil || missing == "" { // else it was the question that was broken off
			missing = now
		}
		select {
		case <-p.ended:
			return fmt.Errorf("the server ended before it was ready: %s", p.howEnded())
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("the server was not ready within %s (server.ready.timeout): %s%s", most, missing, p.lastLines())
			}
			return ctx.Err()
		case <-t.C:
		}
	}
}

// missing says what is not there yet; "" when the server is ready.
func (s *Server) missing(ctx context.Context, p *process) string {
	ready := s.cfg.Server.Ready
	if s.line != nil && !p.out.matched() {
		return fmt.Sprintf("no line of its output matches %q", ready.Log)
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if ready.Port > 0 {
		host, _, _ := net.SplitHostPort(s.cfg.Address)
		if host == "" {
			host = "127.0.0.1"
		}
		if !connects(ctx, net.JoinHostPort(host, strconv.Itoa(ready.Port))) {
			return fmt.Sprintf("port %d takes no connection", ready.Port)
		}
	}
	if ready.Path != "" {
		if why := s.page(ctx, ready.Path); why != "" {
			return why
		}
	}
	if err := s.cfg.Ping(ctx); err != nil {
		return "it answers no request: " + err.Error()
	}
	return ""
}

// connects says whether something listens at an address.
func connects(ctx context.Context, address string) bool {
	c, err := (&net.Dialer{Timeout: askTime}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = c.Close() // it was only to see
	return true
}

func (s *Server) page(ctx context.Context, path string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.cfg.Page+path, nil)
	if err != nil {
		return err.Error()
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return path + " does not answer"
	}
	defer resp.Body.Close() //nolint:errcheck // only its status was wanted
	if resp.StatusCode != http.StatusOK {
		return fmt.Sprintf("%s answers %d", path, resp.StatusCode)
	}
	return ""
}

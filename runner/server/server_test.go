package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rung/spec/plan"
)

// asServer makes this binary a server, of the kind that the variable names.
const asServer = "RUNG_TEST_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(asServer); kind != "" {
		beServer(kind)
		return
	}
	os.Exit(m.Run())
}

func beServer(kind string) {
	fmt.Println("starting", kind, os.Getenv("SETTING"))
	switch kind {
	case "exits":
		fmt.Fprintln(os.Stderr, "no such model: /models/x")
		os.Exit(3)
	case "silent":
		select {}
	case "prints":
		line := strings.Repeat("x", 100<<10)
		for range 2000 { // 200 MB in lines of 100 KiB
			fmt.Println(line)
		}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "forks":
		child := exec.Command("sleep", "3600") //nolint:noctx // it is to be left behind
		child.Stdout = os.Stdout
		_ = child.Start()
		fmt.Println("child", child.Process.Pid)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1]) //nolint:noctx // the process ends with the test
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("startup complete")
	_ = http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // loopback, for a test
		if kind == "ill" && r.URL.Path == "/health" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprint(w, os.Getpid())
	}))
}

// logbook is a log that may be written by one and read by another.
type logbook struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *logbook) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(b)
}

func (j *logbook) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

// setup is what a test starts: a kind of server on a free port.
func setup(t *testing.T, kind string, change func(*Config)) (Config, *logbook) {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	_ = ln.Close()
	_, port, _ := net.SplitHostPort(address)
	log := &logbook{}
	cfg := Config{
		Server: plan.Server{Command: []string{os.Args[0], port}, Env: []plan.Header{{Name: asServer, Value: kind}, {Name: "SETTING", Sensitive: true}},
			Ready: plan.Ready{Timeout: plan.Duration(20 * time.Second)}, Grace: plan.Duration(5 * time.Second)},
		Secrets: plan.Secrets{Env: map[string]plan.Secret{"SETTING": plan.NewSecret("SEKRET-setting")}},
		Address: address, Shown: address, Page: "http://" + address, Log: log, Say: t.Logf,
		Ping: func(ctx context.Context) error {
			_, err := ask(ctx, "http://"+address+"/v1/models")
			return err
		},
	}
	if change != nil {
		change(&cfg)
	}
	return cfg, log
}

func ask(ctx context.Context, url string) (pid int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = fmt.Fscan(resp.Body, &pid)
	return pid, err
}

// gone waits until a process has ended, or is a zombie that nobody has noted.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 300 {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(b), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d runs still", pid)
}

func TestStartsAndRestarts(t *testing.T) {
	cfg, log := setup(t, "good", func(c *Config) { c.Server.Ready.Log, c.Server.Ready.Path = "startup .omplete", "/health" })
	cfg.Server.Ready.Port, _ = strconv.Atoi(cfg.Address[strings.LastIndex(cfg.Address, ":")+1:])
	s, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	first, err := ask(t.Context(), cfg.Page)
	if err != nil || s.Exited() != "" {
		t.Fatalf("%v, %s", err, s.Exited())
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, err := ask(t.Context(), cfg.Page)
	if err != nil || second == first {
		t.Errorf("process %d after %d, %v", second, first, err)
	}
	gone(t, first)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	gone(t, second)
	text := log.String()
	if strings.Count(text, "startup complete") != 2 || strings.Contains(text, "SEKRET") || !strings.Contains(text, "starting good (sensitive)") {
		t.Errorf("log: %s", text)
	}
}

// A server that can't be had is an error that says why, with its last lines, and
// leaves nothing behind.
func TestServersThatFail(t *testing.T) {
	for _, tt := range []struct {
		kind  string
		words []string
		set   func(*Config)
	}{
		{"exits", []string{"ended before it was ready", "exit status 3", "no such model: /models/x"}, nil},
		{"silent", []string{"not ready within 1s", "answers no request", "starting silent"}, func(c *Config) { c.Server.Ready.Timeout = plan.Duration(time.Second) }},
		{"ill", []string{"not ready within 1s", "/health answers 503"}, func(c *Config) {
			c.Server.Ready.Path, c.Server.Ready.Timeout = "/health", plan.Duration(time.Second)
		}},
		{"good", []string{"not ready within 1s", `no line of its output matches "never"`}, func(c *Config) {
			c.Server.Ready.Log, c.Server.Ready.Timeout = "never", plan.Duration(time.Second)
		}},
		{"missing", []string{"server.command", "/no/such/program"}, func(c *Config) { c.Server.Command = []string{"/no/such/program"} }},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			cfg, _ := setup(t, tt.kind, tt.set)
			_, err := Start(t.Context(), cfg)
			for _, w := range tt.words {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("%q is not in: %v", w, err)
				}
			}
			if connects(t.Context(), cfg.Address) {
				t.Error("something still listens")
			}
		})
	}
}

// A port that is taken is named, and what holds it is left alone.
func TestPortInUse(t *testing.T) {
	cfg, _ := setup(t, "good", nil)
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", cfg.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if _, err := Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "something listens at "+cfg.Address+" already") {
		t.Errorf("%v", err)
	}
}

// One that prints without end is started all the same, and its log is bounded.
func TestPrintsMuch(t *testing.T) {
	cfg, log := setup(t, "prints", nil)
	s, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := len(log.String()); n > 2001*(mostLine+1) {
		t.Errorf("%d bytes in the log", n)
	}
}

// Neither one that does not listen to the request to end, nor what it started, is left.
func TestNothingIsLeft(t *testing.T) {
	for _, kind := range []string{"stubborn", "forks"} {
		t.Run(kind, func(t *testing.T) {
			cfg, log := setup(t, kind, func(c *Config) { c.Server.Grace = plan.Duration(300 * time.Millisecond) })
			s, err := Start(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := ask(t.Context(), cfg.Page)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			gone(t, pid)
			var child int
			if _, rest, ok := strings.Cut(log.String(), "child "); ok {
				_, _ = fmt.Sscan(rest, &child)
				gone(t, child)
			} else if kind == "forks" {
				t.Errorf("no child in the log: %s", log.String())
			}
		})
	}
}

// A wait that is given up ends the server too.
func TestInterruptedWhileStarting(t *testing.T) {
	cfg, _ := setup(t, "silent", nil)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(500*time.Millisecond, cancel)
	if _, err := Start(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A server that ends by itself is known to have.
func TestExits(t *testing.T) {
	cfg, _ := setup(t, "good", nil)
	s, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	pid, err := ask(t.Context(), cfg.Page)
	if err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	gone(t, pid)
	for range 100 {
		if strings.Contains(s.Exited(), "signal: killed") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%q", s.Exited())
}

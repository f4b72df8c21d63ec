package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"rung/runner/server"
	"rung/runner/serverlog"
	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

// startServer starts the server that the spec declares and waits until it is ready;
// nil where it declares none.
func (j *job) startServer(ctx context.Context, log io.Writer) (*server.Server, error) {
	s := j.cell.Server
	if j.simulated || s == nil || len(s.Command) == 0 {
		return nil, nil //nolint:nilnil // none is to be started
	}
	if err := j.endOrphan(); err != nil {
		return nil, err
	}
	client, err := target.New(j.plan.Target, nil, j.secrets(), 1)
	if err != nil {
		return nil, err
	}
	lines := serverlog.NewWatcher(time.Now)
	j.log = lines
	address, root := client.Address()
	cfg := server.Config{Server: *s, Secrets: j.secrets(), Folder: filepath.Dir(j.path), Address: address, Shown: address, Page: root,
		Ping: client.Ready, Log: log, Line: lines.Line, Say: j.say, Began: j.noteServer}
	if j.spec.Secrets.URL != nil {
		cfg.Shown = "the address in target.url"
	}
	return server.Start(ctx, cfg)
}

// openServersLog opens the log of a server that runs already, where the spec names one.
func (j *job) openServersLog() (io.Closer, error) {
	s := j.cell.Server
	if j.simulated || s == nil || s.Log == "" {
		return io.NopCloser(nil), nil
	}
	file := s.Log
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(j.path), file)
	}
	log, err := serverlog.Open(file, j.secrets().Scrubber(), time.Now)
	if err != nil {
		return nil, fmt.Errorf("server.log: %w", err)
	}
	j.log = log
	return log, nil
}

// asked is the server whose command was run; nil where it is attached or simulated.
func (j *job) asked() *plan.Server {
	if s := j.cell.Server; !j.simulated && s != nil && len(s.Command) > 0 {
		return s
	}
	return nil
}

// told are the settings that the server's page of metrics tells, whether or not it is
// read beside the run.
func (j *job) told(ctx context.Context) []record.Setting {
	if j.simulated || j.plan.Target.API == plan.Exec {
		return nil
	}
	p := j.plan
	if p.Metrics == nil {
		p.Metrics = &plan.Metrics{Path: "/metrics"}
	}
	r, err := j.readerOf(p)
	if err != nil {
		return nil // the run itself says what is wrong with the address
	}
	defer r.Close()
	ctx, cancel := context.WithTimeout(ctx, toldTime)
	defer cancel()
	return r.Settings(ctx)
}

// toldTime is how long a page of metrics may take before the run.
const toldTime = 5 * time.Second

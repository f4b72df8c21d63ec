package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rung/runner/proc"
)

// serverFile has the mark of the server that a run has started, as long as the run goes on:
// a rung that is killed leaves its server behind.
const serverFile = "server.json"

// noteServer keeps the mark of the server's process beside the journal, once there is one.
// A run does not fail for want of it.
func (j *job) noteServer(pid int) {
	if m, ok := proc.MarkOf(pid); ok {
		j.mark = &m
	}
	j.keepMark()
}

func (j *job) keepMark() {
	if j.mark == nil || j.dir == "" {
		return
	}
	b, err := json.Marshal(*j.mark)
	if err == nil {
		err = os.WriteFile(filepath.Join(j.dir, "journal", serverFile), b, 0o644) //nolint:gosec // three numbers, nothing secret
	}
	if err != nil {
		j.say("warning: where rung is killed its server will be left behind: %v", err)
	}
}

// lastWritten is when a file of a folder was written to last, to two seconds: by then a
// rung that was killed was still there.
func lastWritten(folder string) time.Time {
	var last time.Time
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last.Add(2 * time.Second)
}

// endOrphan ends the server that an earlier part of the run had started and left behind.
func (j *job) endOrphan() error {
	if j.resumed == nil {
		return nil
	}
	file := filepath.Join(j.resumed.dir, "journal", serverFile)
	b, err := os.ReadFile(file)
	if err != nil {
		return nil //nolint:nilerr // it started none, or ended it
	}
	var m proc.Mark
	if json.Unmarshal(b, &m) != nil {
		return nil //nolint:nilerr // it was killed as it wrote it
	}
	before := lastWritten(filepath.Join(j.resumed.dir, "journal"))
	if !m.Left(before) {
		return nil
	}
	j.say("ending the server that the run had left behind (process group %d)", m.Group)
	if !m.End(before, j.cell.Server.Grace.D()) {
		return fmt.Errorf("the server that the run had left behind does not end: process group %d", m.Group)
	}
	return nil
}

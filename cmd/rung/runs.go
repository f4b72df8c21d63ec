package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"rung/results"
	"rung/sinks/parquet"
	"rung/sinks/record"
)

// listed is one run as rung runs shows it.
type listed struct {
	Path       string    `json:"path"`
	Experiment string    `json:"experiment"`
	Cell       string    `json:"cell,omitempty"`
	Status     string    `json:"status"` // done, failed, interrupted, running, killed, unreadable
	Began      time.Time `json:"began"`
	LengthS    *float64  `json:"length_s,omitempty"` // until its end
	Requests   int64     `json:"requests"`           // that its manifest counts: 0 while it runs
	Simulated  bool      `json:"simulated"`
	Model      string    `json:"model,omitempty"`
	Server     string    `json:"server,omitempty"`
	SpecHash   string    `json:"spec_hash,omitempty"`
	Error      string    `json:"error,omitempty"`
}

func (a *app) runs() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "runs [FOLDER...]",
		Short: "List the runs in a folder of results",
		Long: `Lists the runs in a folder of results (results by default), in an experiment's or a
run's own, in the order in which they began. A run that was killed is told from one
that goes on; rung run --resume goes on with the first.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"results"}
			}
			return a.listRuns(args, asJSON)
		},
	}
	c.ValidArgsFunction = runFolders
	c.Flags().BoolVar(&asJSON, "json", false, "print the runs as JSON")
	return c
}

func (a *app) listRuns(folders []string, asJSON bool) error {
	all := []listed{}
	for _, folder := range folders {
		dirs, err := runsBelow(folder)
		if err != nil {
			return statusError{exitUsage, err}
		}
		for _, dir := range dirs {
			all = append(all, listOf(dir))
		}
	}
	slices.SortStableFunc(all, func(x, y listed) int { return x.Began.Compare(y.Began) })
	if asJSON {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return failed(enc.Encode(all))
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "began (UTC)\tlength\tstatus\trequests\tmodel\trun") //nolint:errcheck // Flush tells
	for _, r := range all {
		length := "-"
		if r.LengthS != nil {
			length = time.Duration(*r.LengthS * float64(time.Second)).Round(time.Second).String()
		}
		model := record.OneLine(r.Model)
		if r.Simulated {
			model += " (simulated)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", r.Began.UTC().Format("2006-01-02 15:04"), length, record.OneLine(r.Status), r.Requests, model, r.Path) //nolint:errcheck // as above
	}
	return failed(w.Flush())
}

// runsBelow gives the folders of runs in a folder: a run, an experiment's runs, or those of
// each experiment.
func runsBelow(folder string) ([]string, error) {
	dirs, err := results.Find(folder)
	if err == nil {
		return dirs, nil
	}
	entries, readErr := os.ReadDir(folder)
	if readErr != nil {
		return nil, fmt.Errorf("find runs: %w", readErr)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if more, err := results.Find(filepath.Join(folder, e.Name())); err == nil {
			dirs = append(dirs, more...)
		}
	}
	if len(dirs) == 0 {
		return nil, err
	}
	return dirs, nil
}

// listOf is a run as its manifest has it.
func listOf(dir string) listed {
	m, err := parquet.ReadManifest(dir)
	if err != nil {
		return listed{Path: dir, Status: "unreadable", Error: err.Error()}
	}
	out := listed{Path: dir, Experiment: m.Experiment, Cell: m.Cell, Status: string(m.Status), Began: m.Began, Requests: m.Counts.Requests,
		Simulated: m.Simulated, Server: m.Server.Software, SpecHash: m.SpecHash, Error: m.Error}
	if len(m.Server.Models) > 0 {
		out.Model = m.Server.Models[0]
	}
	if m.Ended != nil {
		out.LengthS = new(m.Ended.Sub(m.Began).Seconds())
	}
	if m.Status == record.Running && !errors.Is(parquet.Busy(dir), parquet.ErrBusy) {
		out.Status = "killed"
	}
	return out
}

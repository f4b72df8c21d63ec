package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"rung/results"
	"rung/results/render"
	"rung/spec/plan"
)

func (a *app) report() *cobra.Command {
	var asJSON, strict bool
	var otherRules, beside string
	c := &cobra.Command{
		Use:   "report RUN...",
		Short: "Say what a run found: knee, edge, headroom",
		Long: `Reads what was recorded, prints the report, and writes it as report.html,
report.md and report.json into the run's folder, under report/, with the pictures
of throughput and latency as SVG and PNG beside them. RUN is a run's
folder or an experiment's, of which the latest run is taken. It opens no
connection and starts no process. Of several runs a table side by side follows,
which --page writes as an HTML page, with the runs' curves on one axis.
With --rules the block analysis of another spec is taken instead of that by which
the run was declared: the report then says that its rules were chosen after the
data, and is printed alone.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if beside != "" && len(args) < 2 {
				return usage("--page is of two or more runs; a run's own page is report/report.html in its folder")
			}
			rules, err := a.otherRules(otherRules)
			if err != nil {
				return err
			}
			var invalid, pages []string
			var reports []*results.Report
			for _, path := range args {
				rep, page, err := a.reportRun(path, rules, asJSON)
				if err != nil {
					return err
				}
				reports, pages, invalid = append(reports, rep), append(pages, page), append(invalid, rep.Invalid...)
			}
			if len(reports) > 1 && !asJSON {
				if err := render.SideBySide(a.stdout, reports, a.options()); err != nil {
					return failed(err)
				}
			}
			if beside != "" {
				if err := a.writeBeside(beside, reports, pages); err != nil {
					return failed(err)
				}
			}
			if strict && len(invalid) > 0 {
				return statusError{exitGate, fmt.Errorf("the result is not valid: %s", strings.Join(invalid, "; "))}
			}
			return nil
		},
	}
	c.ValidArgsFunction = runFolders
	c.Flags().BoolVar(&strict, "strict", false, "end with status 3 where the result is not valid: refused or unsteady rungs, a limit that was not confirmed")
	c.Flags().StringVar(&beside, "page", "", "write several runs side by side as one HTML page into this `file`")
	c.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	c.Flags().StringVar(&otherRules, "rules", "", "report by the block analysis of this `spec`, and not by the run's own")
	must(c.MarkFlagFilename("rules", "hcl"))
	c.MarkFlagsMutuallyExclusive("page", "rules") // the page links to what is kept beside the runs
	return c
}

// otherRules are those of a spec; nil where none is given.
func (a *app) otherRules(spec string) (*plan.Analysis, error) {
	if spec == "" {
		return nil, nil
	}
	res, err := a.load(spec, specFlags{}, false)
	if err != nil {
		return nil, err
	}
	return &res.Plan.Analysis, nil
}

// latestRun is the folder of the run that path means: path itself, or the latest in an
// experiment's folder, which is then said.
func (a *app) latestRun(path string) (string, error) {
	dirs, err := results.Find(path)
	if err != nil {
		return "", statusError{exitUsage, err}
	}
	dir := dirs[len(dirs)-1]
	if len(dirs) > 1 {
		a.say("%d runs in %s; this is the latest, %s", len(dirs), path, filepath.Base(dir))
	}
	return dir, nil
}

// options are what the terminal can show.
func (a *app) options() render.Options {
	return render.Options{Width: a.columns(), UTF8: a.utf8(), Color: a.color(a.outTTY)}
}

// openLatest reads the run that path means.
func (a *app) openLatest(path string) (*results.Run, error) {
	dir, err := a.latestRun(path)
	if err != nil {
		return nil, err
	}
	run, err := a.openLean(dir)
	return run, failed(err)
}

// analysed is the run that a path means and its report, by its own rules.
func (a *app) analysed(path string) (*results.Run, *results.Report, error) {
	run, err := a.openLatest(path)
	if err != nil {
		return nil, nil, err
	}
	return run, results.Analyse(run, run.Plan.Analysis), nil
}

// reportRun reports one run, by other rules than its own where there are some, and gives
// the path of its page where it has one.
func (a *app) reportRun(path string, rules *plan.Analysis, asJSON bool) (*results.Report, string, error) {
	run, err := a.openLatest(path)
	if err != nil {
		return nil, "", err
	}
	by := run.Plan.Analysis
	if rules != nil {
		by = *rules
	}
	rep := results.Analyse(run, by)
	if asJSON {
		err = render.JSON(a.stdout, rep, render.Options{})
	} else {
		err = render.Text(a.stdout, rep, a.options())
	}
	if err != nil {
		return nil, "", failed(err)
	}
	if rules != nil {
		a.say("\nnot kept beside the run, where the report is by its own rules")
		return rep, "", nil
	}
	page, err := writeReport(filepath.Join(run.Dir, "report"), rep)
	if err != nil {
		// The report was printed; a folder that can't be written takes nothing from it.
		return nil, "", failed(fmt.Errorf("the report can't be kept beside the run: %w", err))
	}
	a.say("\nthe same as a page: %s", page)
	return rep, page, nil
}

// writeReport writes the report's files, each whole or not at all, and gives the
// page's path.
func writeReport(dir string, rep *results.Report) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a result to be shared, not a secret
		return "", err
	}
	page := filepath.Join(dir, "report.html")
	pictures, err := render.PictureFiles(rep)
	for _, p := range pictures {
		err = errors.Join(err, writeFile(filepath.Join(dir, p.Name), func(w io.Writer) error {
			_, err := io.WriteString(w, p.Content)
			return err
		}))
	}
	return page, errors.Join(err,
		writeFile(filepath.Join(dir, "report.json"), func(w io.Writer) error { return render.JSON(w, rep, render.Options{}) }),
		writeFile(filepath.Join(dir, "report.md"), func(w io.Writer) error { return render.Markdown(w, rep, render.Options{UTF8: true}) }),
		writeFile(page, func(w io.Writer) error { return render.HTML(w, rep, render.Options{UTF8: true}) }),
	)
}

func writeFile(path string, render func(io.Writer) error) error {
	var b bytes.Buffer
	if err := render(&b); err != nil {
		return err
	}
	tmp := path + ".tmp"
	err := os.WriteFile(tmp, b.Bytes(), 0o644) //nolint:gosec // a result to be shared, not a secret
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp) //nolint:errcheck // the first error is the one that matters
	}
	return err
}

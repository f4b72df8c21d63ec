package main

import (
	"io"
	"path/filepath"

	"rung/results"
	"rung/results/render"
)

// writeBeside writes the page of several runs, with links to their own pages that hold
// as long as the folders lie to each other as they do, and says where it is.
func (a *app) writeBeside(file string, reports []*results.Report, pages []string) error {
	from, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return err
	}
	runs := make([]render.Beside, len(reports))
	for i, page := range pages {
		to, err := filepath.Abs(page)
		if err == nil {
			to, err = filepath.Rel(from, to)
		}
		if err != nil {
			return err
		}
		runs[i] = render.Beside{Report: reports[i], Page: filepath.ToSlash(to)}
	}
	if err := writeFile(file, func(w io.Writer) error { return render.BesideHTML(w, runs) }); err != nil {
		return err
	}
	a.say("\nthe runs side by side as a page: %s", file)
	return nil
}

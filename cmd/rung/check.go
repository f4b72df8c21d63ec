package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) check() *cobra.Command {
	var f specFlags
	c := &cobra.Command{
		Use:   "check SPEC...",
		Short: "Read specs and show everything that is wrong with them",
		Long: `Reads each spec, evaluates it and shows all errors and warnings at once, each
with its file, line and excerpt. It opens no connection and starts no process. A
sensitive variable that is not set is no error here.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			bad := false
			for _, path := range args {
				res, err := a.load(path, f, false)
				if err != nil && err.Error() != "" {
					return err
				}
				if err != nil { // its diagnostics were shown
					bad = true
					continue
				}
				fmt.Fprintf(a.stdout, "%s: ok, experiment %q, spec hash %s\n", path, res.Plan.Experiment, res.Plan.SpecHash[:12]) //nolint:errcheck // a closed stdout has no reader
			}
			if bad {
				return statusError{status: exitUsage}
			}
			return nil
		},
	}
	f.add(c.Flags())
	return c
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"rung/spec"
)

func (a *app) check() *cobra.Command {
	var f specFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "check SPEC...",
		Short: "Read specs and show everything that is wrong with them",
		Long: `Reads each spec, evaluates it and shows all errors and warnings at once, each
with its file, line and excerpt. It opens no connection and starts no process. A
sensitive variable that is not set is no error here.

With --json all that is to say of all the files is one JSON document on stdout.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if asJSON {
				return a.checkJSON(args, f)
			}
			return a.checkAll(args, f)
		},
		ValidArgsFunction: specFiles,
	}
	f.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the errors and warnings as JSON")
	return c
}

func (a *app) checkAll(paths []string, f specFlags) error {
	bad := false
	for _, path := range paths {
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
}

func (a *app) checkJSON(paths []string, f specFlags) error {
	var all spec.Diagnostics
	for _, path := range paths {
		_, diags, err := a.read(path, f, false)
		if err != nil {
			return err
		}
		all = append(all, diags...)
	}
	b, err := all.JSON()
	if err == nil {
		_, err = fmt.Fprintf(a.stdout, "%s\n", b)
	}
	if err == nil && all.HasErrors() {
		return statusError{status: exitUsage}
	}
	return failed(err)
}

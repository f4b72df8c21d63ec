package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"rung/results"
	"rung/results/render"
)

func (a *app) gate() *cobra.Command {
	var against string
	var asJSON bool
	c := &cobra.Command{
		Use:   "gate RUN --against RUN",
		Short: "Hold a later run against a run's rollback criteria",
		Long: `Holds a run against the criteria in the block rollback of the run it is held
against: at the rungs up to the limits that run found, and in the checks. Each
criterion is tripped, held or not evaluable, which is no pass. Exit status: 0
where all held, 3 else. RUN is a run's folder or an experiment's, of which the
latest run is taken.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			_, later, err := a.analysed(args[0])
			if err != nil {
				return err
			}
			_, reference, err := a.analysed(against)
			if err != nil {
				return err
			}
			g := results.NewGate(later, reference)
			if asJSON {
				err = render.GateJSON(a.stdout, g)
			} else {
				err = render.Gate(a.stdout, g, a.options())
			}
			if err == nil && g.Verdict != results.Held {
				return statusError{exitGate, fmt.Errorf("the gate is %s", g.Verdict)}
			}
			return failed(err)
		},
	}
	c.ValidArgsFunction = runFolders
	c.Flags().StringVar(&against, "against", "", "the run whose criteria and limits count")
	c.MarkFlagRequired("against") //nolint:errcheck // the flag is there
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}

func (a *app) compare() *cobra.Command {
	var anyWorkload, asJSON bool
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Say how one run differs from another",
		Long: `Holds run B against run A: equal rungs are paired, and throughput and latency are
tested over passes, or over rounds where passes are too few, by Mann and Whitney,
held against their number by Holm. Runs that did other work, which their workload
hashes tell, are refused unless --any-workload is given. It says whether edges,
limits and peaks moved; where nothing did, a setting that was changed between the
runs probably did not take effect. A and B are runs' folders or experiments', of
which the latest run is taken.`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			runs := make([]*results.Run, len(args))
			for i, path := range args {
				var err error
				if runs[i], err = a.openLatest(path); err != nil {
					return err
				}
			}
			cmp, err := results.Compare(runs[0], runs[1], anyWorkload)
			switch {
			case errors.Is(err, results.ErrOtherWork):
				return usage("%s; --any-workload compares them all the same", err)
			case err != nil:
				return failed(err)
			case asJSON:
				return failed(render.CompareJSON(a.stdout, cmp))
			default:
				return failed(render.Compare(a.stdout, cmp, a.options()))
			}
		},
	}
	c.ValidArgsFunction = runFolders
	c.Flags().BoolVar(&anyWorkload, "any-workload", false, "compare runs that did other work: rungs of equal value and shape are paired")
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}

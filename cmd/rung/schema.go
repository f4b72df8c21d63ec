package main

import (
	"github.com/spf13/cobra"

	"rung/results/render"
	"rung/sinks/parquet"
)

func (a *app) schema() *cobra.Command {
	var report bool
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print the columns of the tables, with unit and meaning",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if report {
				return failed(render.Schema(a.stdout))
			}
			return failed(parquet.DescribeSchema(a.stdout))
		},
	}
	c.Flags().BoolVar(&report, "report", false, "print the JSON schema of report.json instead")
	return c
}

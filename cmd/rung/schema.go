package main

import (
	"github.com/spf13/cobra"

	"rung/sinks/parquet"
)

func (a *app) schema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the columns of the tables, with unit and meaning",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return failed(parquet.DescribeSchema(a.stdout)) },
	}
}

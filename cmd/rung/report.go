package main

import (
	"github.com/spf13/cobra"
)

func (a *app) report() *cobra.Command {
	return &cobra.Command{Use: "report RUN..."}
}

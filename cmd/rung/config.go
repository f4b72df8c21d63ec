package main

import (
	"strings"

	"github.com/spf13/cobra"

	"rung/results"
	"rung/results/render"
)

func (a *app) config() *cobra.Command {
	var form string
	var asJSON bool
	c := &cobra.Command{
		Use:   "config RUN --for FORM",
		Short: "Write what a run found as a server's configuration",
		Long: `Writes what a run found into the form of a server's configuration: flags for vllm,
tei and sglang, one a line, or yaml. A comment above each value says which run,
ladder, rung and rule it is from and what it holds under; what the data does not
carry is left out, with the reason. A shell takes the flags by

  vllm serve MODEL $(rung config RUN --for vllm | grep -v '^#')

RUN is a run's folder or an experiment's, of which the latest run is taken.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			_, rep, err := a.analysed(args[0])
			if err != nil {
				return err
			}
			cfg, err := results.Configure(rep, form)
			if err != nil {
				return usage("--for: %s", err)
			}
			if asJSON {
				return failed(render.ConfigJSON(a.stdout, cfg))
			}
			return failed(render.Config(a.stdout, cfg, render.Options{UTF8: a.utf8()}))
		},
	}
	c.ValidArgsFunction = runFolders
	c.Flags().StringVar(&form, "for", "", "the form: "+strings.Join(results.Forms(), ", "))
	c.MarkFlagRequired("for")                                                                                         //nolint:errcheck // the flag is there
	c.RegisterFlagCompletionFunc("for", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { //nolint:errcheck // likewise
		return results.Forms(), cobra.ShellCompDirectiveNoFileComp
	})
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}

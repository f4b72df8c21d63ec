package main

import (
	"github.com/spf13/cobra"

	"rung/runner/sim"
	"rung/spec/plan"
)

func (a *app) sim() *cobra.Command {
	var f specFlags
	listen, model, seed := "127.0.0.1:8000", "simulated", int64(1)
	c := &cobra.Command{
		Use:   "sim [SPEC]",
		Short: "Serve the simulated server until interrupted",
		Long: `Serves the built-in simulated server on loopback, with the simulator block of a
spec or, without a spec, with defaults. Its log of what it received goes to
stdout, a JSON line a request.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			params := plan.DefaultSimulator()
			if len(args) == 1 {
				f.simulate = true
				res, err := a.load(args[0], f, false)
				if err != nil {
					return err
				}
				if res.Plan.Simulator != nil {
					params = *res.Plan.Simulator
				}
				if !cmd.Flags().Changed("model") {
					model = res.Plan.Target.Model
				}
				seed = res.Plan.Seed
			}
			return a.serveSimulator(cmd, listen, sim.Config{Params: params, Seed: seed, Model: model, Log: a.stdout})
		},
	}
	c.ValidArgsFunction = specFiles
	f.addVars(c)
	c.Flags().StringVar(&listen, "listen", listen, "loopback `address` to serve on; port 0 takes a free one")
	c.Flags().StringVar(&model, "model", model, "`name` of the model that is served")
	return c
}

func (a *app) serveSimulator(cmd *cobra.Command, listen string, cfg sim.Config) error {
	drain, _, stop := a.interruptible(cmd.Context())
	defer stop()
	server, err := sim.Start(cmd.Context(), listen, cfg)
	if err != nil {
		return failed(err)
	}
	a.say("simulated server at %s, model %q; interrupt to end it", server.URL(), cfg.Model)
	<-drain.Done()
	return failed(server.Close()) // an interrupt is how it is meant to end
}

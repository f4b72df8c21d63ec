package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"rung/spec"
	"rung/spec/plan"
)

// planFlags say what rung plan prints in place of its table.
type planFlags struct {
	json, hash, full, ask bool
}

func (a *app) plan() *cobra.Command {
	var f specFlags
	var o planFlags
	c := &cobra.Command{
		Use:   "plan SPEC",
		Short: "Show everything that a run of the spec would send",
		Long: `Shows each ladder and rung with its rounds, requests and tokens, and what all of
it takes: the least time, when a server answers at once, and a likely one, with
the assumption that it rests on. It opens no connection and starts no process.

With --ask it prepares a run against the server: it shows what that is, what it
takes, and the lengths that the requests before a run had. Nothing is written.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: specFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			res, err := a.load(args[0], f, o.ask)
			if err != nil {
				return err
			}
			switch {
			case o.json:
				enc := json.NewEncoder(a.stdout)
				enc.SetIndent("", "  ")
				return failed(enc.Encode(res.Plan))
			case o.hash:
				return failed(a.showHashes(res.Plan))
			case o.ask:
				return a.ask(cmd.Context(), args[0], res, f)
			default:
				return failed(a.showPlan(res.Plan, o.full, f.simulate || res.Plan.Simulated()))
			}
		},
	}
	f.add(c)
	flags := c.Flags()
	flags.BoolVar(&o.json, "json", false, "print the plan as JSON")
	flags.BoolVar(&o.hash, "hash", false, "print the hashes of the experiment and of its workload")
	flags.BoolVar(&o.full, "full", false, "list every visit of a rung, in order")
	flags.BoolVar(&o.ask, "ask", false, "ask the server what it is and what it takes")
	c.MarkFlagsMutuallyExclusive("json", "hash", "full", "ask")
	return c
}

// showHashes prints both hashes with their version, and the workload's of each cell
// where they differ.
func (a *app) showHashes(p plan.Plan) error {
	w := &errWriter{w: a.stdout}
	w.printf("spec %d:%s\n", spec.HashFormat, p.SpecHash)
	w.printf("workload %d:%s\n", spec.HashFormat, p.WorkloadHash)
	for _, c := range p.Cells {
		if c.WorkloadHash != p.WorkloadHash {
			w.printf("workload %d:%s  %s\n", spec.HashFormat, c.WorkloadHash, c.Name)
		}
	}
	return w.err
}

// showPlan prints the head, a table for each group of cells with the same work, and
// the sums.
func (a *app) showPlan(p plan.Plan, full, simulated bool) error {
	w := &errWriter{w: a.stdout, plain: !a.utf8()}
	showHead(w, p, simulated)
	cost := spec.SimulatedCost(p)
	var all []spec.Price
	for _, cells := range alike(p.Cells) {
		price := spec.PriceOf(p, cells[0], cost)
		for range cells {
			all = append(all, price)
		}
		w.printf("\n")
		showCells(w, p, cells)
		showCell(w, p, cells[0], simulated)
		w.printf("\n")
		if full {
			showVisits(w, cells[0], price)
		} else {
			showRungs(w, cells[0], price)
		}
	}
	w.printf("\n")
	showSums(w, all, cost, timed(p))
	return w.err
}

// alike groups the cells that do the same work, in the order of the first of each.
func alike(cells []plan.Cell) [][]plan.Cell {
	at := map[string]int{}
	var out [][]plan.Cell
	for _, c := range cells {
		i, ok := at[c.WorkloadHash]
		if !ok {
			i = len(out)
			at[c.WorkloadHash] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

// showCells names the cells of a table, where there is a matrix.
func showCells(w *errWriter, p plan.Plan, cells []plan.Cell) {
	if cells[0].Name == "" {
		return
	}
	for _, c := range cells {
		w.printf("cell %d of %d: %s\n", c.Index+1, len(p.Cells), clip(c.Name, planWidth-25))
	}
}

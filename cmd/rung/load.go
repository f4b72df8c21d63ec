package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"rung/spec"
)

// specFlags are those of every command that reads a spec.
type specFlags struct {
	vars     []string
	varFiles []string
	simulate bool
}

func (f *specFlags) add(c *cobra.Command) {
	f.addVars(c)
	c.Flags().BoolVar(&f.simulate, "simulate", false, "use the built-in simulated server and its modelled GPU")
}

// addVars adds those that set variables: with the last of these that sets one,
// among equals the last, a variable has its value.
func (f *specFlags) addVars(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.vars, "var", nil, "set a variable: `name=value`; wins over --var-file; given twice the last counts")
	flags.StringArrayVar(&f.varFiles, "var-file", nil, "set variables from a `file` of lines name = value, or of a JSON object (.json); wins over RUNG_VAR_name, and that over the default")
	must(c.MarkFlagFilename("var-file", "hcl", "json"))
}

// must is for what fails by a mistake in the program alone.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// load reads a spec and shows its diagnostics. The error has nothing to add to
// them.
func (a *app) load(path string, f specFlags, forRun bool) (spec.Result, error) {
	res, diags, err := a.read(path, f, forRun)
	if err != nil {
		return res, err
	}
	if err := diags.Render(a.stderr, a.columns(), a.color(a.errTTY)); err != nil {
		return res, failed(err)
	}
	if diags.HasErrors() {
		return res, statusError{status: exitUsage}
	}
	if len(res.Plan.Cells) == 0 {
		return res, failed(errors.New("the plan has no cell"))
	}
	return res, nil
}

// read is load without a word.
func (a *app) read(path string, f specFlags, forRun bool) (spec.Result, spec.Diagnostics, error) {
	vars := map[string]string{}
	for _, v := range f.vars {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return spec.Result{}, nil, usage("--var: write it as --var name=value") // without what was given: it may be a secret
		}
		vars[name] = value
	}
	res, diags := spec.Load(path, spec.Options{Vars: vars, VarFiles: f.varFiles, Env: a.env, Simulate: f.simulate, ForRun: forRun})
	return res, diags, nil
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"rung/spec"
)

func (a *app) fmt() *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:   "fmt [FILE...]",
		Short: "Lay specs out in the usual way",
		Long: `Rewrites each file in the layout of HCL and prints the names of those that it
changed. A folder stands for the *.hcl in it, without an argument the current one
does; - reads stdin and writes to stdout. A file with errors of syntax is left as
it is. No layout changes a hash.

With --check nothing is written: it prints the names of the files that would
change and ends with status 1 where there are any.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			return a.fmtAll(args, check)
		},
		ValidArgsFunction: specFiles,
	}
	c.Flags().BoolVar(&check, "check", false, "write nothing; status 1 where a file would change")
	return c
}

// fmtAll formats what can be formatted, whatever is wrong with the rest.
func (a *app) fmtAll(args []string, check bool) error {
	var paths []string
	for _, arg := range args {
		in, err := specsIn(arg)
		if err != nil {
			return statusError{exitUsage, err}
		}
		paths = append(paths, in...)
	}
	changed, bad := false, false
	for _, path := range paths {
		differs, err := a.fmtOne(path, check)
		switch {
		case errors.Is(err, errShown):
			bad = true
		case err != nil:
			return failed(err)
		}
		changed = changed || differs
	}
	switch {
	case bad:
		return statusError{status: exitUsage}
	case check && changed:
		return statusError{status: exitFailed}
	default:
		return nil
	}
}

// errShown is the error of a file whose diagnostics were shown.
var errShown = errors.New("shown")

// specsIn gives a file itself, or the specs of a folder.
func specsIn(arg string) ([]string, error) {
	if arg == "-" {
		return []string{arg}, nil
	}
	info, err := os.Stat(arg)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return filepath.Glob(filepath.Join(arg, "*.hcl"))
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", arg)
	default:
		return []string{arg}, nil
	}
}

// fmtOne formats one file and says whether that changes it.
func (a *app) fmtOne(path string, check bool) (bool, error) {
	source, name, err := a.source(path)
	if err != nil {
		return false, err
	}
	out, diags := spec.Format(name, source)
	if err := diags.Render(a.stderr, a.columns(), a.color(a.errTTY)); err != nil {
		return false, err
	}
	if diags.HasErrors() {
		return false, errShown
	}
	differs := !bytes.Equal(source, out)
	switch {
	case path == "-" && !check:
		_, err = a.stdout.Write(out)
	case differs:
		if !check {
			err = replaceFile(path, out)
		}
		if err == nil {
			_, err = fmt.Fprintln(a.stdout, name)
		}
	}
	return differs, err
}

// source reads a file, or stdin for -.
func (a *app) source(path string) (source []byte, name string, err error) {
	if path == "-" {
		source, err = io.ReadAll(io.LimitReader(a.stdin, 16<<20))
		return source, "<stdin>", err
	}
	source, err = os.ReadFile(path) //nolint:gosec // a file that the command line names
	return source, path, err
}

// replaceFile writes a file anew, whole or not at all, with the mode that it had. A
// link stays one, and what it leads to is replaced.
func replaceFile(path string, content []byte) (err error) {
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".rung-fmt-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name()) //nolint:errcheck // the first error is the one that matters
		}
	}()
	_, err = tmp.Write(content)
	if err == nil {
		err = tmp.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

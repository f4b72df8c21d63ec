package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rung/spec"
)

// help is cobra's, with a topic beside the commands: the language of a spec.
func (a *app) help(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | language [WORD]]",
		Short: "Explain a command, or the language of a spec",
		Long: `Explains a command. rung help language prints the reference of the language in
which specs are written, rung help language ladder the part on one block, and
rung help language cooldown the part in which an attribute or a rule stands.`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch {
			case len(args) == 0:
				return append(commandNames(root), "language"), cobra.ShellCompDirectiveNoFileComp
			case args[0] == "language":
				return spec.Sections(), cobra.ShellCompDirectiveNoFileComp
			default:
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "language" {
				return a.language(args[1:])
			}
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usage("there is no command %q; see rung --help", strings.Join(args, " "))
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

func commandNames(root *cobra.Command) []string {
	var out []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			out = append(out, c.Name())
		}
	}
	return out
}

// language prints the reference, or sections of it.
func (a *app) language(blocks []string) error {
	text := spec.Reference
	if len(blocks) > 0 {
		text = ""
	}
	for _, b := range blocks {
		section, err := sectionOn(b)
		if err != nil {
			return err
		}
		text += section
	}
	_, err := fmt.Fprint(a.stdout, strings.ReplaceAll(text, "\t", "    "))
	return failed(err)
}

// sectionOn is the section of a block, or that in which a word stands; where it stands
// in several, their names.
func sectionOn(word string) (string, error) {
	if section, ok := spec.Section(word); ok {
		return section, nil
	}
	switch with := spec.SectionsWith(word); len(with) {
	case 0:
		return "", usage("the language has no section %q, and no attribute, function or rule of that name; there are %s", word, strings.Join(spec.Sections(), ", "))
	case 1:
		section, _ := spec.Section(with[0])
		return section, nil
	default:
		return fmt.Sprintf("%q stands in %s; rung help language %s prints one of them.\n", word, strings.Join(with, ", "), with[0]), nil
	}
}

// specFiles completes the names of specs.
func specFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"hcl"}, cobra.ShellCompDirectiveFilterFileExt
}

// runFolders completes the folders of runs.
func runFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

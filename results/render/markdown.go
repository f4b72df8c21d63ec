package render

import (
	"fmt"
	"io"
	"strings"

	"rung/results"
)

// Markdown writes the report as GitHub's Markdown.
func Markdown(w io.Writer, rep *results.Report, _ Options) error {
	var b strings.Builder
	for _, x := range outline(rep, true) {
		markdown(&b, x)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdown(b *strings.Builder, x block) {
	switch {
	case x.band != "":
		fmt.Fprintf(b, "> **%s**\n\n", md(x.band))
	case x.heading != "":
		fmt.Fprintf(b, "%s %s\n\n", strings.Repeat("#", x.level), md(x.heading))
	case x.strong != "":
		fmt.Fprintf(b, "**%s**\n\n", md(x.strong))
	case x.text != "":
		fmt.Fprintf(b, "%s\n\n", md(x.text))
	case x.list != nil:
		for _, item := range x.list {
			fmt.Fprintf(b, "- %s\n", md(item))
		}
		b.WriteByte('\n')
	case x.pairs != nil:
		b.WriteString("| | |\n| --- | --- |\n")
		for _, kv := range x.pairs {
			fmt.Fprintf(b, "| %s | %s |\n", cell(kv[0]), cell(kv[1]))
		}
		b.WriteByte('\n')
	case x.table != nil:
		markdownTable(b, *x.table)
	case x.code != "":
		fence := "```"
		for strings.Contains(x.code, fence) {
			fence += "`"
		}
		fmt.Fprintf(b, "%s%s\n%s\n%s\n\n", fence, x.lang, strings.TrimRight(x.code, "\n"), fence)
	}
}

func markdownTable(b *strings.Builder, t table) {
	if len(t.rows) > 0 {
		fmt.Fprintf(b, "%s\n\n|", md(t.caption))
		for _, c := range t.head {
			fmt.Fprintf(b, " %s |", cell(c.name))
		}
		b.WriteString("\n|")
		for _, c := range t.head {
			if c.left {
				b.WriteString(" --- |")
			} else {
				b.WriteString(" ---: |")
			}
		}
		b.WriteByte('\n')
		for _, r := range t.rows {
			b.WriteByte('|')
			for _, c := range r {
				fmt.Fprintf(b, " %s |", cell(c))
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	for _, n := range t.footnotes() {
		fmt.Fprintf(b, "%s\n\n", md(n))
	}
}

// md escapes what Markdown or HTML would take for markup.
func md(s string) string {
	s = cell(s)
	if s != "" && strings.ContainsRune("#+-=", rune(s[0])) {
		return `\` + s
	}
	return s
}

// cell is md for places where no line begins.
func cell(s string) string {
	return strings.NewReplacer(
		`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`,
		"<", "&lt;", ">", "&gt;", "&", "&amp;").Replace(s)
}

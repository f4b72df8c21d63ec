package render

import (
	"io"
	"strings"

	"rung/results"
)

// Text writes the report for a terminal of o.Width columns.
func Text(w io.Writer, rep *results.Report, o Options) error {
	p := &printer{o: o, width: o.width()}
	for _, b := range outline(rep, false) {
		p.block(b)
	}
	return p.flush(w)
}

// flush writes what was laid out.
func (p *printer) flush(w io.Writer) error {
	s := p.out.String()
	if !p.o.UTF8 {
		s = ascii(s)
	}
	_, err := io.WriteString(w, s)
	return err
}

// printer lays blocks out in columns.
type printer struct {
	o     Options
	width int
	out   strings.Builder
}

// The styles of a terminal.
const (
	bold    = "1"
	dim     = "2"
	warning = "1;30;43" // black on yellow
	accent  = "36"
)

func (p *printer) style(s, code string) string {
	if !p.o.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *printer) line(s string) { p.out.WriteString(strings.TrimRight(s, " ") + "\n") }

func (p *printer) block(b block) {
	switch {
	case b.band != "":
		for _, l := range wrap(b.band, p.width-4) {
			p.line(p.style("* "+pad(l, p.width-4, false)+" *", warning))
		}
	case b.heading != "" && b.level == 1:
		p.line(p.style(b.heading, bold))
	case b.heading != "":
		p.line("")
		p.line(p.style(b.heading, bold))
	case b.strong != "":
		for _, l := range wrap(b.strong, p.width) {
			p.line(p.style(l, bold))
		}
	case b.text != "":
		for _, l := range wrap(b.text, p.width) {
			p.line(p.style(l, dim))
		}
	case b.list != nil:
		for _, item := range b.list {
			p.hang("- ", item)
		}
	case b.pairs != nil:
		p.pairs(b.pairs)
	case b.table != nil:
		p.table(*b.table)
	case b.code != "":
		p.line("")
		for l := range strings.Lines(b.code) {
			p.line("  " + strings.TrimRight(l, "\n"))
		}
	}
}

// hang writes a text with a lead on its first line and blanks below it.
func (p *printer) hang(lead, text string) {
	for i, l := range wrap(text, p.width-width(lead)) {
		if i > 0 {
			lead = strings.Repeat(" ", width(lead))
		}
		p.line(lead + l)
	}
}

func (p *printer) pairs(pairs [][2]string) {
	names := 0
	for _, kv := range pairs {
		names = max(names, width(kv[0]))
	}
	names = min(names, p.width/2)
	for _, kv := range pairs {
		for i, l := range wrap(kv[1], p.width-names-2) {
			name := ""
			if i == 0 {
				name = kv[0]
			}
			p.line(p.style(pad(name, names, true), accent) + "  " + l)
		}
	}
}

// widthOfBars is the room below which bars are left out.
const widthOfBars = 8

func (p *printer) table(t table) {
	t.fit(p.width)
	if len(t.rows) > 0 {
		p.line("")
		p.line(p.style(t.caption, dim))
		p.rows(t)
	}
	for _, n := range t.footnotes() {
		p.hang("", n)
	}
}

func (p *printer) rows(t table) {
	widths := t.widths()
	room := min(p.width-t.width()-len(gap), 24)
	over, head := make([]string, len(t.head)), make([]string, len(t.head))
	for i, c := range t.head {
		above, below := c.lines()
		over[i], head[i] = pad(above, widths[i], c.left), pad(below, widths[i], c.left)
	}
	for _, h := range [][]string{over, head} {
		if s := strings.TrimRight(strings.Join(h, gap), " "); s != "" {
			p.line(p.style(s, bold))
		}
	}
	for j, r := range t.rows {
		cells := make([]string, len(r))
		for i, c := range r {
			cells[i] = pad(c, widths[i], t.head[i].left)
		}
		l := strings.Join(cells, gap)
		if t.bars != nil && room >= widthOfBars {
			l += gap + p.style(bar(t.bars[j], room), accent)
		}
		p.line(l)
	}
}

// bar is a share of room columns, to an eighth of a column.
func bar(share float64, room int) string {
	eighths := int(share*float64(room)*8 + 0.5)
	s := strings.Repeat("█", eighths/8)
	if e := eighths % 8; e > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[e-1])
	}
	return s
}

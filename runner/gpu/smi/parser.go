// Package smi reads what nvidia-smi writes: as it comes from the program, which it can
// start, or from a file that somebody recorded with it.
//
// It takes the tool's CSV with and without header and units, columns in any order,
// headers that a loop repeats, and the table of its dmon. What the tool says it does
// not know is null, never 0; a line that is no row is counted and no row beside it is
// lost. Every string that it hands on is valid UTF-8.
package smi

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"rung/sinks/record"
)

// MemCall is what samples say of where their memory figures come from.
const MemCall = "nvidia-smi"

// Query is the command whose output has all that is needed, for a person to copy.
const Query = "nvidia-smi --query-gpu=timestamp,index,uuid,name,memory.total,memory.used,memory.free,utilization.gpu,utilization.memory," +
	"power.draw,temperature.gpu,clocks.sm,clocks.mem --format=csv -lms 200"

// Why a text is refused.
var (
	ErrNoTime   = errors.New("it has no time stamps, so that its samples can't be put beside requests; record it with\n  " + Query + "\nor, with dmon, by nvidia-smi dmon -o DT")
	ErrNoHeader = errors.New("its first line does not name its columns; name them with --columns, as --columns timestamp,index,memory.used,utilization.gpu")
	ErrNoRow    = errors.New("there is no sample in it")
)

// Options say how a text is read.
type Options struct {
	Columns []string       // names of the columns where the text has no header
	Devices []string       // UUID, index or bus id; empty: all
	Zone    *time.Location // of times without an offset; nil: this machine's

	EndsAtLoss bool // a card that is gone ends the samples; in a file others may follow
}

// Parser reads line by line. The text may be endless; what it keeps is bounded by the
// number of cards.
type Parser struct {
	o       Options
	fields  []field // of the header in force
	asked   map[string]bool
	blanks  bool // dmon: columns are apart by blanks
	cards   []*card
	untimed bool // a header without times was seen

	Rows    int    // samples
	Skipped int    // lines that are no row, no header and not blank
	Cut     int    // rows that end too early
	Lost    string // what the tool said of a card that is gone
	Noise   string // the first line that was skipped, on one line
	timed   bool   // such a line begins with a time
}

// NewParser gives a parser of a text's beginning.
func NewParser(o Options) *Parser {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	p := &Parser{o: o, asked: map[string]bool{}}
	if len(o.Columns) > 0 {
		p.takeFields(o.Columns)
	}
	return p
}

// Line takes the next line. ok is false where it is no sample, or of a card that is
// not wanted. Place and the run's times are left to the caller; Time is the row's own.
func (p *Parser) Line(line []byte) (s record.Sample, ok bool) {
	text := clean(line)
	switch {
	case text == "":
	case isLost(text):
		p.Lost = text
	case p.header(text):
	default:
		if s, ok = p.row(text); !ok {
			return s, false
		}
		if ok = p.wanted(s); ok {
			p.Rows++
		}
	}
	return s, ok
}

// Err says why nothing can come of the text, as far as it was read; nil while
// something may.
func (p *Parser) Err() error {
	switch {
	case p.untimed && p.Rows == 0:
		return ErrNoTime
	case p.o.EndsAtLoss && p.Lost != "":
		return errors.New(p.Lost)
	default:
		return nil
	}
}

// End says after the last line why there was nothing; nil where there was a sample.
func (p *Parser) End() error {
	switch {
	case p.Rows > 0:
		return nil
	case p.Err() != nil:
		return p.Err()
	case len(p.fields) > 0 && len(p.cards) > 0:
		return fmt.Errorf("no device %s in it, which has %s", strings.Join(p.o.Devices, ", "), p.names())
	case len(p.fields) > 0 || p.Skipped == 0:
		if p.Noise != "" {
			return fmt.Errorf("%w; a line says: %s", ErrNoRow, p.Noise)
		}
		return ErrNoRow
	case p.timed:
		return ErrNoHeader
	case p.Lost != "":
		return fmt.Errorf("%w: %s", ErrNoRow, p.Lost)
	case strings.Contains(p.Noise, ","):
		return ErrNoTime
	default:
		return fmt.Errorf("%w; a line says: %s", ErrNoRow, p.Noise)
	}
}

func (p *Parser) names() string {
	var out []string
	for _, c := range p.cards {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%d %s", c.info.Index, c.info.UUID)))
	}
	return strings.Join(out, ", ")
}

// header takes a line that names columns. One without times makes the rows below it
// useless, and Err says so.
func (p *Parser) header(text string) bool {
	if strings.HasPrefix(text, "#") {
		return p.dmonHeader(strings.TrimLeft(text, "# "))
	}
	cells := split(text)
	names := 0
	for _, c := range cells {
		if _, ok := instant(c, p.o.Zone); ok {
			return false
		}
		if _, ok := column(c); ok {
			names++
		}
	}
	if names == 0 || 2*names < len(cells) && !strings.Contains(text, "timestamp") {
		return false
	}
	p.blanks = false
	p.takeFields(cells)
	return true
}

// dmonHeader takes the first of dmon's two lines of header; the other has the units,
// which are always the same.
func (p *Parser) dmonHeader(text string) bool {
	cells := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
	for _, c := range cells {
		if strings.EqualFold(c, "idx") {
			return true
		}
	}
	p.blanks = true
	p.takeFields(cells)
	return true
}

func (p *Parser) takeFields(cells []string) {
	p.fields = make([]field, len(cells))
	has := map[kind]bool{}
	for i, c := range cells {
		p.fields[i], _ = column(c)
		has[p.fields[i].is] = true
		if name := p.fields[i].column; name != "" {
			p.asked[name] = true
		}
	}
	if !has[isTime] && !has[isClock] || p.blanks && !has[isDate] {
		p.fields, p.untimed = nil, true
	}
}

// skip counts a line that is none of the tool's.
func (p *Parser) skip(text string) (record.Sample, bool) {
	if p.Noise == "" {
		p.Noise = short(text)
		_, p.timed = instant(split(text)[0], p.o.Zone)
	}
	p.Skipped++
	return record.Sample{}, false
}

// row reads one sample. A row that ends early has all that stands before its last
// cell: that may be half of a number.
func (p *Parser) row(text string) (record.Sample, bool) {
	cells := split(text)
	if p.blanks {
		cells = strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
	}
	if len(cells) > len(p.fields) {
		return p.skip(text)
	}
	short := len(cells) < len(p.fields)
	if short {
		cells = cells[:len(cells)-1]
	}
	s := record.Sample{MemCall: MemCall}
	var ok bool
	if s.Time, ok = p.time(cells); !ok {
		return p.skip(text)
	}
	c := p.card(cells)
	if c == nil {
		return p.skip(text)
	}
	if short {
		p.Cut++
	}
	s.Device, s.UUID, s.Name = c.info.Index, c.info.UUID, c.info.Name
	for i, cell := range cells {
		c.take(p.fields[i], cell, &s)
	}
	if s.MemTotalBytes != nil {
		c.info.MemTotalBytes = s.MemTotalBytes
	}
	return s, true
}

// take reads one cell into the sample, or notes why it has no value.
func (c *card) take(f field, cell string, s *record.Sample) {
	switch f.is {
	case isAbout:
		f.about(&c.info, short(cell))
	case isNumber:
		v, why := number(cell, f.unit)
		if why == "" {
			f.put(s, v)
			c.got[f.column] = true
		} else if c.why[f.column] == "" {
			c.why[f.column] = why
		}
	default: // when it was, and of which card, is known
	}
}

// time is when a row was taken: a column of its own, or dmon's two.
func (p *Parser) time(cells []string) (time.Time, bool) {
	var day, clock string
	for i, cell := range cells {
		switch p.fields[i].is {
		case isTime:
			return instant(cell, p.o.Zone)
		case isDate:
			day = cell + " "
		case isClock:
			clock = cell
		default:
		}
	}
	return instant(day+clock, p.o.Zone)
}

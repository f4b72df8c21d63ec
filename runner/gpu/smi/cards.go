package smi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rung/sinks/record"
)

// mostCards bounds the cards of one text.
const mostCards = 1024

// card is a device as its rows have it.
type card struct {
	info record.Device
	bus  string
	got  map[string]bool   // columns that had a value
	why  map[string]string // why a column had none, the first time
}

// card finds whose row it is, by all that the row says of it. Without any name there
// is one card.
func (p *Parser) card(cells []string) *card {
	now := card{got: map[string]bool{}, why: map[string]string{}}
	now.info.Index = -1
	named := false
	for i, cell := range cells {
		switch f := p.fields[i]; f.is {
		case isIndex, isUUID, isBus:
			named = true
			now.name(f.is, short(cell))
		case isName:
			now.info.Name = short(cell)
		default:
		}
	}
	if named && now.info.Index < 0 && now.info.UUID == "" {
		return nil
	}
	for _, c := range p.cards {
		if !named || c.info.UUID != "" && c.info.UUID == now.info.UUID || now.info.UUID == "" && c.info.Index == now.info.Index {
			return c
		}
	}
	if len(p.cards) == mostCards {
		return nil
	}
	if now.info.Index < 0 {
		now.info.Index = len(p.cards)
	}
	p.cards = append(p.cards, &now)
	return &now
}

func (c *card) name(is kind, cell string) {
	unknown := cell == "" || strings.HasPrefix(cell, "[") || strings.EqualFold(cell, "N/A")
	switch {
	case unknown:
	case is == isIndex:
		if n, err := strconv.ParseUint(cell, 10, 16); err == nil {
			c.info.Index = int(n)
		}
	case is == isUUID:
		c.info.UUID = cell
	case is == isBus:
		c.bus = bus(cell)
		if c.info.UUID == "" {
			c.info.UUID = cell
		}
	}
}

// bus is a bus id without the zeros of its domain, of which tools write four or eight.
func bus(id string) string { return strings.TrimLeft(strings.ToLower(id), "0") }

// wanted says whether the sample is of a card that was chosen.
func (p *Parser) wanted(s record.Sample) bool {
	if len(p.o.Devices) == 0 {
		return true
	}
	for _, c := range p.cards {
		if c.info.Index == s.Device && c.info.UUID == s.UUID {
			return c.chosen(p.o.Devices)
		}
	}
	return false
}

func (c *card) chosen(devices []string) bool {
	for _, d := range devices {
		if d == c.info.UUID || d == strconv.Itoa(c.info.Index) || c.bus != "" && bus(d) == c.bus {
			return true
		}
	}
	return len(devices) == 0
}

// Devices lists the wanted cards seen so far. A column that was asked for and never had
// a value is unsupported.
func (p *Parser) Devices() []record.Device {
	var out []record.Device
	for _, c := range p.cards {
		if !c.chosen(p.o.Devices) {
			continue
		}
		d := c.info
		d.Unsupported = nil
		for _, name := range columnNames() {
			if p.asked[name] && !c.got[name] {
				d.Unsupported = append(d.Unsupported, name)
			}
		}
		out = append(out, d)
	}
	return out
}

// steady is Devices after the first reading: what a card can't tell once is not
// unsupported.
func (p *Parser) steady() []record.Device {
	out := p.Devices()
	for i := range out {
		c := p.cards[slices.IndexFunc(p.cards, func(c *card) bool { return c.info.Index == out[i].Index && c.info.UUID == out[i].UUID })]
		out[i].Unsupported = slices.DeleteFunc(out[i].Unsupported, func(name string) bool {
			return strings.Contains(strings.ToLower(c.why[name]), "unknown error")
		})
	}
	return out
}

// Reasons says why columns of the wanted cards had no value at some time, in the
// tool's words.
func (p *Parser) Reasons() []string {
	var out []string
	for _, c := range p.cards {
		for _, name := range columnNames() {
			if why := c.why[name]; why != "" && c.chosen(p.o.Devices) {
				out = append(out, fmt.Sprintf("device %d: %s: %s", c.info.Index, name, why))
			}
		}
	}
	return out
}

// columnNames are the columns of the gpu table that the tool can fill, in order.
func columnNames() []string {
	return []string{"mem_clock_mhz", "mem_free_bytes", "mem_reserved_bytes", "mem_total_bytes", "mem_used_bytes", "power_w",
		"sm_clock_mhz", "temperature_c", "throttle_reasons", "util_gpu_pct", "util_mem_pct"}
}

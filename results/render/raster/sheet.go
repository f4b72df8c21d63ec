package raster

import (
	"image/color"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// sheet are a style sheet's rules, the weakest first.
type sheet []rule

// rule holds for elements of a name, where it has one, that have all its classes.
type rule struct {
	name    string
	classes []string
	set     map[string]string
}

// newSheet reads the rules that select one element by its name and its classes. Others
// (:hover, a parent's) say nothing of a picture that stands still.
func newSheet(css string) sheet {
	simple := regexp.MustCompile(`(?m)^([a-z]*)((?:\.[a-z0-9-]+)*) \{([^}]*)\}`)
	var s sheet
	for _, m := range simple.FindAllStringSubmatch(css, -1) {
		r := rule{name: m[1], set: map[string]string{}}
		if m[2] != "" {
			r.classes = strings.Split(m[2][1:], ".")
		}
		for of := range strings.SplitSeq(m[3], ";") {
			if name, v, ok := strings.Cut(of, ":"); ok {
				r.set[strings.TrimSpace(name)] = strings.TrimSpace(v)
			}
		}
		s = append(s, r)
	}
	slices.SortStableFunc(s, func(a, b rule) int { return a.weight() - b.weight() })
	return s
}

// weight is the specificity of a rule: its classes, then its name.
func (r rule) weight() int { return 2*len(r.classes) + min(len(r.name), 1) }

func (r rule) holds(name string, classes []string) bool {
	if r.name != "" && r.name != name {
		return false
	}
	for _, c := range r.classes {
		if !slices.Contains(classes, c) {
			return false
		}
	}
	return true
}

// look is how an element is drawn; lengths in the units of the view box.
type look struct {
	fill, stroke color.NRGBA // of no alpha: none
	width        float64     // of the stroke
	dashes       []float64   // lengths drawn and left out in turn
	roundCap     bool
	size         float64 // of the letters
}

// look is that of an element: its own attributes, then the rules that hold for it.
func (s sheet) look(e element) look {
	set := map[string]string{"fill": "#000000", "stroke": "none", "stroke-width": "1", "font-size": "12", "opacity": "1", "fill-opacity": "1"}
	for _, a := range e.Attrs {
		set[a.Name.Local] = a.Value
	}
	classes := strings.Fields(e.attr("class"))
	for _, r := range s {
		if r.holds(e.XMLName.Local, classes) {
			maps.Copy(set, r.set)
		}
	}
	number := func(name string) float64 {
		v, _ := strconv.ParseFloat(strings.TrimSuffix(set[name], "px"), 64)
		return within(v)
	}
	l := look{
		fill: colour(set["fill"], number("opacity")*number("fill-opacity")), stroke: colour(set["stroke"], number("opacity")),
		width: number("stroke-width"), roundCap: set["stroke-linecap"] == "round", size: number("font-size"),
	}
	for v := range strings.FieldsSeq(set["stroke-dasharray"]) {
		if n, err := strconv.ParseFloat(v, 64); err == nil && n > 0 {
			l.dashes = append(l.dashes, n)
		}
	}
	return l
}

// colour reads #rrggbb and #rrggbbaa; any other is none.
func colour(s string, opacity float64) color.NRGBA {
	hex, ok := strings.CutPrefix(s, "#")
	if len(hex) == 6 {
		hex += "ff"
	}
	v, err := strconv.ParseUint(hex, 16, 32)
	if !ok || err != nil || len(hex) != 8 {
		return color.NRGBA{}
	}
	alpha := math.Round(float64(v&0xff) * math.Max(0, math.Min(1, opacity)))
	return color.NRGBA{R: uint8(v >> 24), G: uint8(v >> 16), B: uint8(v >> 8), A: uint8(alpha)} //nolint:gosec // a byte each
}

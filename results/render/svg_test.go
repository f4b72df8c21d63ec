package render_test

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"rung/results/render"
	"rung/results/resultstest"
)

// The pictures are well-formed by themselves, whatever the ladder is called, and take
// nothing from elsewhere.
func TestSVG(t *testing.T) {
	const evil = `a/../<b>"x"`
	o := resultstest.Small()
	r := o.Run()
	l := &r.Plan.Cells[0].Ladders[0]
	for i := range r.Requests {
		if r.Requests[i].Ladder == l.Name {
			r.Requests[i].Ladder = evil
		}
	}
	l.Name = evil
	rep := analyse(r)
	rep.Simulated = true
	files, err := render.SVG(rep)
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if strings.ContainsAny(f.Name, `/<>"`) || !strings.HasSuffix(f.Name, ".svg") {
			t.Errorf("a file named %q", f.Name)
		}
		d, names := xml.NewDecoder(strings.NewReader(f.Content)), map[string]int{}
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			if e, ok := token.(xml.StartElement); ok {
				names[e.Name.Local]++
			}
		}
		if names["svg"] != 1 || names["style"] != 1 || names["path"] < 5 || !strings.Contains(f.Content, "SIMULATED") {
			t.Errorf("%s: %v", f.Name, names)
		}
		for _, no := range []string{"var(", "url(http", "href", "<script", "@import"} {
			if strings.Contains(f.Content, no) {
				t.Errorf("%s holds %s", f.Name, no)
			}
		}
	}
}

// No two places of the page have one id, also where a ladder is called as a section.
func TestIDsAreUnique(t *testing.T) {
	r := resultstest.Small().Run()
	l := &r.Plan.Cells[0].Ladders[0]
	for i := range r.Requests {
		if r.Requests[i].Ladder == l.Name {
			r.Requests[i].Ladder = "timeline"
		}
	}
	l.Name = "timeline"
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(render1(t, render.HTML, analyse(r), render.Options{}), -1) {
		if seen[m[1]] {
			t.Errorf("the id %q stands twice", m[1])
		}
		seen[m[1]] = true
	}
	if len(seen) < 20 {
		t.Errorf("%d ids", len(seen))
	}
}

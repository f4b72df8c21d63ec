package render_test

import (
	"encoding/xml"
	"errors"
	"io"
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

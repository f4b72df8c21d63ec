package render_test

import (
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rung/results"
	"rung/results/render"
	"rung/results/resultstest"
)

// renamed is a short run whose first ladder has a name.
func renamed(name string) *resultstest.Recorded {
	r := resultstest.Small().Run()
	l := &r.Plan.Cells[0].Ladders[0]
	for i := range r.Requests {
		if r.Requests[i].Ladder == l.Name {
			r.Requests[i].Ladder = name
		}
	}
	l.Name = name
	return r
}

// pictureFiles are a report's pictures by their extension.
func pictureFiles(t *testing.T, rep *results.Report) map[string][]render.File {
	t.Helper()
	files, err := render.PictureFiles(rep)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]render.File{}
	for _, f := range files {
		if strings.ContainsAny(f.Name, `/<>"`) {
			t.Errorf("a file named %q", f.Name)
		}
		out[filepath.Ext(f.Name)] = append(out[filepath.Ext(f.Name)], f)
	}
	return out
}

// The pictures are well-formed by themselves, whatever the ladder is called, and take
// nothing from elsewhere.
func TestSVG(t *testing.T) {
	rep := analyse(renamed("a/../<b>\"x\"\uffff\x1b\u202e\xff批次"))
	rep.Simulated = true
	files := pictureFiles(t, rep)[".svg"]
	if len(files) != 4 {
		t.Fatalf("%d files", len(files))
	}
	for _, f := range files {
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

// count says how often each colour stands in a region of a PNG.
func count(t *testing.T, f render.File, in image.Rectangle) map[color.RGBA]int {
	t.Helper()
	img, err := png.Decode(strings.NewReader(f.Content))
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	if b := img.Bounds(); b != image.Rect(0, 0, 1280, 760) {
		t.Fatalf("%s is %v", f.Name, b)
	}
	out := map[color.RGBA]int{}
	for y := in.Min.Y; y < in.Max.Y; y++ {
		for x := in.Min.X; x < in.Max.X; x++ {
			out[color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)]++
		}
	}
	return out
}

// A PNG shows what the SVG of its name does: as large by twice, on white, in the colours
// of the lines and the marks, and the same whenever it is drawn.
func TestPNG(t *testing.T) {
	rep := analyse(tiny())
	whole := image.Rect(0, 0, 1280, 760)
	blue, green, orange, red := color.RGBA{0, 0x72, 0xb2, 255}, color.RGBA{0, 0x7a, 0x5a, 255}, color.RGBA{0xb8, 0x4a, 0, 255}, color.RGBA{0xc0, 0x39, 0x2b, 255}
	want := map[string][]color.RGBA{"batch-throughput.png": {blue, green, red}, "batch-latency.png": {blue, orange, red}}
	files := pictureFiles(t, rep)
	for _, f := range files[".png"] {
		got := count(t, f, whole)
		if white := got[color.RGBA{255, 255, 255, 255}]; white < 1280*760/2 {
			t.Errorf("%s: %d white pixels", f.Name, white)
		}
		for _, c := range want[f.Name] {
			if got[c] < 100 {
				t.Errorf("%s: %d pixels of %v", f.Name, got[c], c)
			}
		}
		delete(want, f.Name)
	}
	if len(want) > 0 {
		t.Errorf("not drawn: %v", want)
	}
	if d := cmp.Diff(files, pictureFiles(t, rep)); d != "" {
		t.Error("drawn again they differ")
	}
}

// A picture of a simulated run says so, and no word of it stands in one of a real run.
func TestPicturesAreMarkedSimulated(t *testing.T) {
	rep := analyse(tiny())
	corner := image.Rect(0, 0, 160, 30)
	for _, simulated := range []bool{false, true} {
		rep.Simulated = simulated
		files := pictureFiles(t, rep)
		for _, f := range files[".svg"] {
			if marked := strings.Contains(strings.ToLower(f.Content), "simulated"); marked != simulated {
				t.Errorf("%s of a run that is simulated, %t: marked, %t", f.Name, simulated, marked)
			}
		}
		for _, f := range files[".png"] {
			if marked := len(count(t, f, corner)) > 1; marked != simulated {
				t.Errorf("%s of a run that is simulated, %t: marked, %t", f.Name, simulated, marked)
			}
		}
	}
}

// Names are no part of what is drawn: whatever they hold, the picture is the same.
func TestPNGOfHostileNames(t *testing.T) {
	plain := pictureFiles(t, analyse(renamed("plain")))[".png"]
	for _, name := range []string{"<script>\x00\x1b[2J\u202e\ufffe\xff批次🙂", `"><rect width="1e9"/>]]>&amp;`} {
		for i, f := range pictureFiles(t, analyse(renamed(name)))[".png"] {
			if f.Content != plain[i].Content {
				t.Errorf("%q changes %s", name, f.Name)
			}
		}
	}
}

// No two places of the page have one id, also where a ladder is called as a section.
func TestIDsAreUnique(t *testing.T) {
	r := renamed("timeline")
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

package render

import (
	"fmt"
	"regexp"
	"strings"

	"rung/results"
	"rung/results/render/raster"
)

// File is a picture by itself.
type File struct{ Name, Content string }

// pngScale is in how many pixels a unit of a picture is drawn: a slide is wider than a page.
const pngScale = 2

// PictureFiles gives a ladder's two main pictures, throughput and latency, as SVG and PNG
// that need no page and no style sheet, for papers and slides.
func PictureFiles(rep *results.Report) ([]File, error) {
	css, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return nil, fmt.Errorf("render pictures: %w", err)
	}
	style := lightStyle(string(css))
	var out []File
	ids := map[string]bool{}
	for i := range rep.Ladders {
		l := &rep.Ladders[i]
		id := anchor(l.Name, ids)
		if len(l.Rungs) == 0 {
			continue
		}
		for k, name := range []string{"throughput", "latency"} {
			svg := alone(string(pictures(rep, l, id)[k].Wide), style, rep.Simulated)
			png, err := raster.PNG(svg, pngScale)
			if err != nil {
				return nil, fmt.Errorf("render pictures: %w", err)
			}
			name = id + "-" + name
			out = append(out, File{name + ".svg", svg}, File{name + ".png", string(png)})
		}
	}
	return out, nil
}

// lightStyle is what of the page's style sheet is of pictures, in the light theme, with
// its variables filled in: few programs but browsers know them.
func lightStyle(css string) string {
	theme, _, _ := strings.Cut(css, "}")
	for _, v := range regexp.MustCompile(`(--[a-z0-9-]+): ([^;]+);`).FindAllStringSubmatch(theme, -1) {
		css = strings.ReplaceAll(css, "var("+v[1]+")", v[2])
	}
	var b strings.Builder
	for line := range strings.Lines(css) {
		// Rules of narrow pages and of print are indented.
		if strings.HasPrefix(line, ".") && strings.HasSuffix(line, "}\n") && !strings.Contains(line, "display:") {
			b.WriteString(strings.ReplaceAll(line, ".chart ", ""))
		}
	}
	return b.String()
}

// simulatedStyle is that of the mark of a simulated run: a rule, since the sheet's own
// for texts would win over the element's attributes.
const simulatedStyle = ".simulated { fill: #8a6500; font-size: 10px; }\n"

// alone makes a file of a picture of the page.
func alone(svg, style string, simulated bool) string {
	box := regexp.MustCompile(`viewBox="0 0 ([0-9]+) ([0-9]+)"`).FindStringSubmatch(svg)
	if box == nil {
		return ""
	}
	svg = strings.Replace(svg, "<svg ", fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" font-family="sans-serif" font-size="12" `, box[1], box[2]), 1)
	mark := ""
	if simulated {
		style += simulatedStyle
		mark = `<text class="simulated" x="8" y="12">SIMULATED</text>`
	}
	back := `</desc><style>` + style + `</style>` + fmt.Sprintf(`<rect width="%s" height="%s" fill="#ffffff"/>`, box[1], box[2]) + mark
	return strings.Replace(svg, "</desc>", back, 1) + "\n"
}

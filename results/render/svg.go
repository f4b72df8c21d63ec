package render

import (
	"fmt"
	"regexp"
	"strings"

	"rung/results"
)

// File is a picture by itself.
type File struct{ Name, Content string }

// SVG gives a ladder's two main pictures, throughput and latency, as files that need no
// page and no style sheet, for papers and slides.
func SVG(rep *results.Report) ([]File, error) {
	css, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return nil, fmt.Errorf("render SVG: %w", err)
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
			out = append(out, File{id + "-" + name + ".svg", alone(string(pictures(rep, l, id)[k].Wide), style, rep.Simulated)})
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
		if of := strings.TrimSpace(line); strings.HasPrefix(of, ".") && strings.HasSuffix(of, "}") && !strings.Contains(of, "display:") {
			b.WriteString(strings.ReplaceAll(of, ".chart ", "") + "\n")
		}
	}
	return b.String()
}

// alone makes a file of a picture of the page.
func alone(svg, style string, simulated bool) string {
	box := regexp.MustCompile(`viewBox="0 0 ([0-9]+) ([0-9]+)"`).FindStringSubmatch(svg)
	if box == nil {
		return ""
	}
	svg = strings.Replace(svg, "<svg ", fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" font-family="sans-serif" font-size="12" `, box[1], box[2]), 1)
	back := `</desc><style>` + style + `</style><rect width="100%" height="100%" fill="#ffffff"/>`
	if simulated {
		back += `<text x="8" y="12" font-size="10" fill="#b98700">SIMULATED</text>`
	}
	return strings.Replace(svg, "</desc>", back, 1) + "\n"
}

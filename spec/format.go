package spec

import (
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Format gives a file in HCL's own layout, without a byte order mark and with lines
// ended by LF. It changes no meaning, so no hash. A file with errors of syntax has
// no layout: then there are diagnostics.
func Format(path string, source []byte) ([]byte, Diagnostics) {
	l := newLoader(path, Options{})
	if len(source) > maxFile {
		l.fileError(sumTooLarge, "The file has more than %d bytes; an experiment file may have no more.", maxFile)
		return nil, l.finish()
	}
	l.source(source)
	if l.guard() {
		l.parse()
	}
	if l.failed() {
		return nil, l.finish()
	}
	return hclwrite.Format(l.src), nil
}

package target

import (
	"net/http"
	"regexp"

	"rung/sinks/record"
)

// limitWords are what servers say of the limit that a request met, the more
// particular words first: TEI, vLLM, llama.cpp, Infinity and SGLang among them.
//
//nolint:gochecknoglobals // a constant table of compiled expressions
var limitWords = []struct {
	limit record.Limit
	words *regexp.Regexp
}{
	{record.LimitPhysical, regexp.MustCompile(`(?i)physical batch size`)},
	{record.LimitBatch, regexp.MustCompile(`(?i)batch size|too many inputs|should have at most \d+ items`)},
	{record.LimitPayload, regexp.MustCompile(`(?i)length limit exceeded|payload too large|request body|entity too large`)},
	{record.LimitCharacters, regexp.MustCompile(`(?i)\d+ characters|parameter=input_text`)},
	{record.LimitSlots, regexp.MustCompile(`(?i)context size has been exceeded`)},
	{record.LimitTokens, regexp.MustCompile(`(?i)token|context|max_model_len`)},
}

// limitOf says which limit of the server a request met; "" where its words do not
// tell.
func limitOf(status int, body []byte) record.Limit {
	text := body[:min(len(body), errorBytes)]
	for _, w := range limitWords {
		if w.words.Match(text) {
			return w.limit
		}
	}
	if status == http.StatusRequestEntityTooLarge {
		return record.LimitPayload
	}
	return ""
}

package plan

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// leastSecret is how many bytes a value must have to be looked for in other texts: a
// shorter one stands in half of them by chance.
const leastSecret = 4

// Scrubber takes secrets out of what others say: a server may echo what it was sent.
type Scrubber struct{ forms [][]byte }

// Scrubber looks for each of the secrets: as it is, the words in it, and as it is
// written in an address, in JSON and in base64.
func (s Secrets) Scrubber() Scrubber {
	seen := map[string]bool{}
	add := func(value string) {
		for _, form := range formsOf(value) {
			if len(form) >= leastSecret {
				seen[form] = true
			}
		}
	}
	if s.URL != nil {
		add(s.URL.Reveal())
		if u, err := url.Parse(s.URL.Reveal()); err == nil {
			password, _ := u.User.Password()
			for _, part := range append(strings.Split(u.Path, "/"), u.User.Username(), password, u.RawQuery) {
				if len(part) > leastSecret { // "v1" is in every path
					add(part)
				}
			}
		}
	}
	for _, secrets := range []map[string]Secret{s.Headers, s.Env} {
		for _, v := range secrets {
			add(v.Reveal())
			for word := range strings.FieldsSeq(v.Reveal()) {
				if len(word) >= 2*leastSecret { // not "Bearer"
					add(word)
				}
			}
		}
	}
	for _, v := range s.Body {
		add(v.Reveal())
		var text string
		if json.Unmarshal([]byte(v.Reveal()), &text) == nil {
			add(text)
		}
	}
	out := Scrubber{}
	for form := range seen {
		out.forms = append(out.forms, []byte(form))
	}
	// The longest first: no part of one may be left over.
	slices.SortFunc(out.forms, func(a, b []byte) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return bytes.Compare(a, b)
	})
	return out
}

// formsOf is a value as it is written in different places.
func formsOf(value string) []string {
	quoted, _ := json.Marshal(value)
	plain := strings.Trim(string(quoted), `"`)
	return []string{
		value, plain, url.QueryEscape(value), url.PathEscape(value),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.RawStdEncoding.EncodeToString([]byte(value)),
		base64.URLEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
	}
}

// Clean is a text without the secrets.
func (s Scrubber) Clean(b []byte) []byte {
	for _, form := range s.forms {
		if bytes.Contains(b, form) {
			b = bytes.ReplaceAll(b, form, []byte(hidden))
		}
	}
	return b
}

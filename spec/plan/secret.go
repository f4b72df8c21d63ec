package plan

import (
	"encoding/json"
	"fmt"
)

// hidden is what a Secret shows, whoever prints it and however.
const hidden = "(sensitive)"

// Secret is a value that prints nothing. Only Reveal gives it away, and the
// target alone calls it.
type Secret struct{ value string }

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{value: value} }

// Reveal gives the value itself.
func (s Secret) Reveal() string { return s.value }

// Format implements fmt.Formatter, so that no verb shows the value.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, hidden) }

// String hides the value.
func (s Secret) String() string { return hidden }

// MarshalText hides the value from every encoder of text, JSON among them.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Secrets is what the runner needs and no file may hold: it travels beside the
// plan, never in it.
type Secrets struct {
	URL     *Secret           // target.url where it is sensitive
	Headers map[string]Secret // by header name
	Body    map[string]Secret // by top-level key of target.body; each the value's JSON
	Env     map[string]Secret // of the started server, by name
}

var _ json.Marshaler = Secrets{}

// MarshalJSON hides everything.
func (s Secrets) MarshalJSON() ([]byte, error) { return json.Marshal(hidden) }

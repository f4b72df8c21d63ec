package plan

import (
	"encoding/json"
	"fmt"
	"time"
)

// Duration is a time.Duration whose JSON is a string with a unit ("200ms"), so
// that a manifest can be read without knowing what was counted.
type Duration time.Duration

// D is the value as the standard library has it.
func (d Duration) D() time.Duration { return time.Duration(d) }

// Seconds is the value in seconds.
func (d Duration) Seconds() float64 { return time.Duration(d).Seconds() }

func (d Duration) String() string { return time.Duration(d).String() }

// MarshalJSON writes the string form.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads the string form.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("duration: %w", err)
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("duration: %w", err)
	}
	*d = Duration(v)
	return nil
}

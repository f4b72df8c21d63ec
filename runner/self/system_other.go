//go:build !unix

package self

import "time"

func cpu() time.Duration { return 0 }

// Limit is how many descriptors this process may have open; nil where there is no
// limit.
func Limit() *int64 { return nil }

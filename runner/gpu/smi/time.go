package smi

import (
	"strconv"
	"strings"
	"time"
)

// layouts are the forms of time without an offset, which are of the zone that is
// given, and those with one. Each takes a fraction of a second too.
func layouts() []string {
	return []string{
		"2006/01/02 15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "20060102 15:04:05",
		"2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04:05 Z0700",
		"2006/01/02 15:04:05 Z07:00", "2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05 UTC",
	}
}

// instant reads a point of time in one of its forms: the tool's own, ISO with or
// without an offset, or the time since 1970 in seconds, milli-, micro- or nanoseconds.
func instant(text string, zone *time.Location) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] < '0' || text[0] > '9' {
		return time.Time{}, false
	}
	t, ok := epoch(text)
	for _, layout := range layouts() {
		if ok {
			break
		}
		var err error
		t, err = time.ParseInLocation(layout, text, zone)
		if strings.HasSuffix(layout, "UTC") {
			t = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
		}
		ok = err == nil
	}
	return t, ok && t.Year() >= 1990 && t.Year() < 2200 // anything else is no reading of a card
}

// epoch reads a number whose size says what it counts.
func epoch(text string) (time.Time, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		switch {
		case n >= 1e17:
			return time.Unix(0, n), true
		case n >= 1e14:
			return time.UnixMicro(n), true
		case n >= 1e11:
			return time.UnixMilli(n), true
		case n >= 5e8:
			return time.Unix(n, 0), true
		}
		return time.Time{}, false
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || v < 5e8 || v >= 1e14:
		return time.Time{}, false
	case v >= 1e11:
		v /= 1e3
	}
	whole := int64(v)
	return time.Unix(whole, int64((v-float64(whole))*1e9)), true
}

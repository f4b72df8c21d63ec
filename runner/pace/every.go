package pace

import "time"

// Every calls take at each multiple of the interval since now, until quit closes or take
// is false. It does not drift: a take that took longer than the interval leaves out those
// it missed, and says how many.
func Every(interval time.Duration, quit <-chan struct{}, take func(due time.Time) bool, missed func(n int)) {
	begin := time.Now()
	for n := 0; ; n++ {
		due := begin.Add(time.Duration(n) * interval)
		t := time.NewTimer(time.Until(due))
		select {
		case <-t.C:
		case <-quit:
			t.Stop()
			return
		}
		if !take(due) {
			return
		}
		if passed := int(time.Since(begin) / interval); passed > n {
			missed(passed - n)
			n = passed
		}
	}
}

package record

// NoVerdict is why a request does not count whose run stopped before its round had a
// verdict.
const NoVerdict = "the run stopped before the round had a verdict"

// Judged says of which rounds the verdict and all requests are there. The end of a round
// tells how many of its requests succeeded and failed: where a disk was full, it can be
// there and they not.
func Judged(rows []Request, events []Event) map[Place]bool {
	type count struct{ ok, failed int }
	have := map[Place]count{}
	for i := range rows {
		c := have[rows[i].Place]
		switch {
		case rows[i].RejectReason == NoVerdict: // as it came back, and not as it was judged
		case rows[i].Outcome == OK:
			c.ok++
		case rows[i].Failed():
			c.failed++
		}
		have[rows[i].Place] = c
	}
	judged := map[Place]bool{}
	for _, e := range events {
		if e.Kind == RoundEnd {
			c := have[e.Place]
			judged[e.Place] = (e.OK == nil || *e.OK == c.ok) && (e.Failed == nil || *e.Failed == c.failed)
		}
	}
	return judged
}

// VoidUnjudged makes requests count nowhere whose round has no verdict among the events, or
// not all of its requests. Rows and events are those of the whole run.
func VoidUnjudged(rows []Request, events []Event) { Void(rows, Judged(rows, events)) }

// Void makes requests count nowhere whose round is not judged.
func Void(rows []Request, judged map[Place]bool) {
	for i := range rows {
		if r := &rows[i]; r.Counted && !judged[r.Place] {
			r.Counted, r.RejectReason = false, NoVerdict
		}
	}
}

package record

// NoVerdict is why a request does not count whose run stopped before its round had a
// verdict.
const NoVerdict = "the run stopped before the round had a verdict"

// Came counts what came of the requests of each round, for Judged.
type Came map[Place]came

type came struct{ ok, failed int }

// Add takes requests.
func (c Came) Add(rows []Request) {
	for i := range rows {
		r := &rows[i]
		n := c[r.Place]
		switch {
		case r.RejectReason == NoVerdict: // as it came back, and not as it was judged
		case r.Outcome == OK:
			n.ok++
		case r.Failed():
			n.failed++
		}
		c[r.Place] = n
	}
}

// Judged says of which rounds the verdict and all requests are there. The end of a round
// tells how many of its requests succeeded and failed: where a disk was full, it can be
// there and they not. Requests and events are those of the whole run.
func (c Came) Judged(events []Event) map[Place]bool {
	judged := map[Place]bool{}
	for _, e := range events {
		if e.Kind == RoundEnd {
			n := c[e.Place]
			judged[e.Place] = (e.OK == nil || *e.OK == n.ok) && (e.Failed == nil || *e.Failed == n.failed)
		}
	}
	return judged
}

// Judged is that of some rows.
func Judged(rows []Request, events []Event) map[Place]bool {
	c := Came{}
	c.Add(rows)
	return c.Judged(events)
}

// Void makes requests count nowhere whose round is not judged.
func Void(rows []Request, judged map[Place]bool) {
	for i := range rows {
		if r := &rows[i]; r.Counted && !judged[r.Place] {
			r.Counted, r.RejectReason = false, NoVerdict
		}
	}
}

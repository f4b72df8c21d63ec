package record

// NoVerdict is why a request does not count whose run stopped before its round had a
// verdict.
const NoVerdict = "the run stopped before the round had a verdict"

// VoidUnjudged makes requests count nowhere whose round has no end among the events: of
// such a round some may be missing. The events are those of the whole run. It says
// whether it changed any.
func VoidUnjudged(rows []Request, events []Event) bool {
	judged := map[Place]bool{}
	for _, e := range events {
		if e.Kind == RoundEnd {
			judged[e.Place] = true
		}
	}
	changed := false
	for i := range rows {
		if r := &rows[i]; r.Counted && !judged[r.Place] {
			r.Counted, r.RejectReason, changed = false, NoVerdict, true
		}
	}
	return changed
}

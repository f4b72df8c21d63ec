package results_test

import (
	"fmt"
	"strings"
	"testing"

	"rung/results/resultstest"
	"rung/sinks/record"
)

// What the server's log said of its memory is a notice; a log that says it without end is
// cut.
func TestServerLogIsNoticed(t *testing.T) {
	r := resultstest.Small().Run()
	for i := range 9 {
		r.Events = append(r.Events, record.Event{Kind: record.LogOOM, TS: 1e3 + float64(i), Reason: fmt.Sprintf("std::bad_alloc %d.", i)},
			record.Event{Kind: record.LogQueue, TS: 1e3, Reason: "Waiting: 5 reqs"})
	}
	text := notices(report(r))
	has(t, "notices", text, "The server's log at 1000.0 s: std::bad_alloc 0.\n", "std::bad_alloc 2.", "The server's log has 6 more lines of the kind")
	if strings.Contains(text, "bad_alloc 3") || strings.Contains(text, "Waiting") {
		t.Error(text)
	}
}

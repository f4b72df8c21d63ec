package parquet

import "rung/sinks/record"

// ServerTable is the name of the table of the server's own metrics.
const ServerTable = "server"

func server() table[record.ServerSample] {
	type r = *row[record.ServerSample]
	reach := func(s r) scope { return inLadders(&s.v.Place) }
	cols := identityColumns[record.ServerSample]()
	cols = append(cols, placeColumns(func(s r) *record.Place { return &s.v.Place }, reach)...)
	return table[record.ServerSample]{
		name: ServerTable, meaning: "a row a reading and series of the server's own metrics",
		columns: append(cols,
			instant("time", "wall clock of the reading, for joins with other machines", func(s r) *wall { return &s.v.Time }),
			number("t_s", "s", "since the run began, on the monotonic clock", func(s r) *float64 { return &s.v.TS }),
			number("late_s", "s", "behind its schedule", func(s r) *float64 { return &s.v.LateS }),
			boolean("forced", "read at a rung's end, beside the schedule", func(s r) *bool { return &s.v.Forced }),
			text("series", "name that all servers share for a known series (running, waiting, kv_usage, preemptions, ...), else the server's own", func(s r) *string { return &s.v.Series }),
			text("source", "the server's own name of it", func(s r) *string { return &s.v.Source }),
			text("labels", "its labels as k=v, in order; null where it has none, as the sum over several", func(s r) *string { return &s.v.Labels }),
			text("kind", "what the value is: "+names(record.SeriesKinds()), func(s r) *record.SeriesKind { return &s.v.Kind }),
			numberOrNull("value", "the series'", "null where the server gave none that is finite", func(s r) **float64 { return &s.v.Value })),
		group: func(s *record.ServerSample) group { return groupOf(&s.Place) },
		size:  func(*record.ServerSample) int { return 320 },
	}
}

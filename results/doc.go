// Package results reads runs and says what they show. It opens no connection and
// starts no process; what it says of a run is a function of the run's files.
//
//  1. Find and Open: a folder becomes a Run, its parts verified.
//  2. Analyse sorts the rows into attempts of rounds, so that their order in the
//     files means nothing, and takes the figures of each rung: steady windows and
//     throughput, latency, failures, memory.
//     Beside them stands what server, card and client showed in the same windows.
//  3. Per ladder: the edge and its boundary by the plan's stop rule, whether by
//     failures or by slowness; the knee by the declared rule over the rungs below
//     the edge, and how sure it is; from both and from the memory the limit, and
//     what the checks of it came to. A rate ladder has a capacity instead, and a
//     ladder of lengths a slope.
//  4. What bound a rung is named where two signals agree (diagnosis.go, signals.go); how
//     a ladder ends, which sign came first, and what to do beside the limit.
//  5. The limits become settings, each with where it is from, and settings the forms of
//     a server's configuration (settings.go, config.go). A later run is held against
//     the rollback criteria (gate.go), two runs against each other (compare.go).
//  6. All ends in one plain value, Report, whose JSON is report.json. Package
//     render writes it for people.
//
// Words. The best rung is the last that pays, the knee the next one, the first
// that no longer does. The edge is the first rung that fails or is too slow, the
// boundary the rung below it. The limit is what gets configured.
//
// A figure that is not known is nil or absent, and beside it stands the reason.
package results

// Package runner executes a plan against a server and gives out one ordered
// stream of records. It knows nothing of HCL, of Parquet or of knees.
//
//  1. Prepare asks the server what it is, finds a form of prompt whose length the
//     server confirms, and fails by name before anything is written.
//  2. Run begins with the baseline: silence, then single requests.
//  3. Each ladder is walked pass by pass. At a rung: warm-ups at the rung's own
//     shape, then rounds; each round is admitted or refused, and run again within
//     its budget. A rung that meets the plan's stop rule is the edge.
//  4. What was sent is emitted when its round has its verdict; samples of the
//     card and events flow between.
//
// A run that stopped early goes on from its past (see Past): it goes the same way once
// more and sends the rounds that are not complete.
//
// A round's bodies are made before its clock starts and its answers are looked at
// after their clocks have stopped, in other goroutines. Bodies are made round by
// round, so that memory stays bounded however long the plan is.
package runner

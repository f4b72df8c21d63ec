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
//
// What goes wrong beside the server, what is kept of it, and how the command ends (each
// with the test that holds it):
//
//	fault                        kept                                       status  test
//	SIGKILL, out of memory       all but the last 20 ms; resumed            -       TestKilledRunsLoseNothing
//	the same with a server that  the same; resuming ends that server        -       TestResumeEndsTheServerLeftBehind
//	rung had started
//	SIGINT, SIGTERM, SIGHUP      all: what is in flight comes back          130     TestSignals
//	a second one                 all: what is in flight is "cancelled"      130     TestSecondInterrupt
//	full disk                    what was written; resumed when there is    1       TestFullDisk
//	                             room
//	folder that can't be written nothing was sent                           1       TestUnwritableFolder
//	folder removed               its rows stay in the journal               1       TestUnwrittenPartStaysInTheJournal
//	a part damaged               the others; the error names it             1       TestDamagedPart
//	journal cut or damaged       what came before                           0       TestCutJournal
//	no descriptors left          before the run: nothing was sent; in it    1, 0    TestCase38
//	                             the rounds are client_limited
//	server gone                  all; the ladders that follow are skipped   1       TestCase04
//	                             or the server is started again
//	GPU sampler gone             all; samples until then                    0       TestCase67
//	host without an address      nothing was sent                           1       TestUnknownHost
//	wall clock steps             all; an event says by how much             0       TestCase41
//	suspended, machine asleep    all; the round is sent again               0       TestSuspended
//	another rung at the run      all: it is refused                         1       TestResumeOfARunUnderWay
package runner

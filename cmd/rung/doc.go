// Rung measures how hard an inference server can be driven.
//
//	rung check SPEC...    read specs and show everything that is wrong with them
//	rung fmt [FILE...]    lay specs out in the usual way
//	rung plan SPEC        show everything that a run of the spec would send
//	rung run SPEC         run an experiment and record it
//	rung report RUN...    say what was found: knee, edge, headroom
//	rung config RUN       write what was found as a server's configuration
//	rung gate RUN         hold a later run against a run's rollback criteria
//	rung compare A B      say how one run differs from another
//	rung runs [FOLDER]    list the runs in a folder of results
//	rung import RUN       add GPU samples that were recorded elsewhere to a run
//	rung sample           record a GPU host's cards; --probe prints what they tell
//	rung sim [SPEC]       serve the simulated server
//	rung schema           print the columns of the tables
//	rung version          print the version
//	rung help language    the reference of the language, block by block
//	rung completion SHELL a script that completes commands, flags and specs
//
// Results go to stdout, progress and errors to stderr. Exit status: 0 done, an
// edge reached included; 1 the run failed; 2 the spec or the command line is
// wrong; 3 a gate tripped or was not evaluable, or report --strict found the
// result invalid; 130 interrupted.
//
// The words: a ladder raises one variable step by step; a rung is one step; a
// round is the unit that is admitted or refused; a pass is one walk along the
// ladder. The best rung is the last that pays, the knee the one above it; the edge
// is the first rung that fails, the boundary the one below it. The limit is what
// gets configured.
package main

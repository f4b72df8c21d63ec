// Package settings holds what a server says of its settings against what its command
// asked for.
//
//  1. The target's pages, the labels of a metrics page (Labels) and the lines of the
//     server's log (FromLine) say what is in force.
//  2. Compare joins that with the command's flags: what differs, and which limits were
//     left to the server's defaults.
package settings

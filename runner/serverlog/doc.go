// Package serverlog finds, in what a server prints, the lines that explain a
// measurement: that requests wait, are refused or batched, that memory ran out, that the
// server took another setting than it was given.
//
//  1. Lines come from a server that rung started, one by one, or from the File of one
//     that is attached, which is read as it grows.
//  2. Kind says what a line is about, by the words of each known server.
//  3. A Watcher keeps those lines, so many of a kind in a second and cut in length; the
//     others are counted. The run reads them as events.
package serverlog

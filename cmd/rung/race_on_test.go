//go:build race

package main

// raced says that the race detector looks on, which makes all ten times slower: what
// it looks at is the same for a few seeds.
const raced = true

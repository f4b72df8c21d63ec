// Package spec reads an experiment file, which is HCL, and gives the plan of what
// a run will do. It opens no connection and starts no process.
//
// # The stages of Load
//
//  1. The file is read, bounded, and freed of a byte order mark and of CRLF.
//  2. A linear pass over its tokens bounds its size, its nesting and its operators
//     (guard.go), because the parser and the evaluator recurse, and a stack that
//     overflows ends the process. The same pass finds what no excerpt may show.
//  3. It is parsed. After an error of syntax the rest is still looked at, so that
//     all mistakes of a file show at once.
//  4. Variables get their values, then locals, each after those that it needs. Each
//     expression's size is bounded before it is evaluated (cost.go).
//  5. A decoder for each kind of block checks names against a table (schema), reads
//     attributes by typed getters (fields) and fills in defaults.
//  6. What holds between blocks is checked (check.go), the whole expanded to a
//     plan.Plan (expand.go) and hashed (hash.go).
//
// Everything wrong becomes a Diagnostic with a place in the file; nothing is
// reported twice, and what an earlier mistake makes unknowable is passed over.
//
// # The language
//
// What a file may say, block by block, stands in language.md, which is embedded: see
// Reference, and rung help language.
package spec

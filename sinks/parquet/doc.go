// Package parquet keeps a run: it writes the tables requests, gpu, events, client and
// server as Parquet, and reads them back. It is the only package that knows Arrow.
//
//  1. CreateRun makes the run's folder, which no other run can have taken.
//  2. A Writer collects the rows of one place (a ladder's pass and rung, or the
//     baseline) in memory and writes them as one part when the place changes,
//     after a minute, or at 64 MiB.
//  3. A part is written under a temporary name in its own folder, synced, renamed
//     and its folder synced. What is on disk under its own name is whole.
//  4. WriteManifest is the last step: it lists each part with its size, its row
//     count and its SHA-256.
//  5. The readers check size and SHA-256 before a part is opened, because a
//     damaged Parquet file can do worse than return an error.
//
// Each column is described once (see columns.go): its name, type, unit and
// meaning, where its value comes from and where it goes on reading. The writer,
// the reader, the metadata in the files and DescribeSchema all use that table.
//
// A part is not appended to: Parquet has its index at the end, and a file without
// it is unreadable. So what is not a part yet lies in the folder journal as well, in
// logs (see frame.go) to which each batch of rows is appended as it comes. What a
// killed run leaves is its parts and its journal. The readers read both; Reopen makes
// the journal parts and goes on behind them. A round whose verdict is not recorded
// counts nowhere: some of its requests may be missing.
package parquet

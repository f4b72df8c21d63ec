package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"rung/results"
	"rung/sinks/parquet"
)

// smicsv RUNS BEHIND FILE: writes what nvidia-smi would have recorded beside the latest
// run, on a machine whose clock is behind by so much. The card is busy and fuller while
// a request is in flight.
func cmdSMICSV(ts *testscript.TestScript, _ bool, args []string) {
	dirs, err := results.Find(ts.MkAbs(args[0]))
	ts.Check(err)
	dir := dirs[len(dirs)-1]
	behind, err := time.ParseDuration(args[1])
	ts.Check(err)
	m, err := parquet.ReadManifest(dir)
	ts.Check(err)
	requests, err := parquet.ReadRequests(dir, m)
	ts.Check(err)
	var out strings.Builder
	out.WriteString("timestamp, index, uuid, name, memory.total [MiB], memory.used [MiB], memory.free [MiB], utilization.gpu [%], power.draw [W]\n")
	for at := -10.0; at < m.Ended.Sub(m.Began).Seconds()+10; at += 0.1 {
		used, util := 10_000, 0
		for _, q := range requests {
			if q.Sent() && q.SentTS <= at && at < q.DoneTS {
				used, util = 20_000+q.Inputs, 100
			}
		}
		stamp := m.Began.Add(time.Duration(at*1e9) - behind).Local().Format("2006/01/02 15:04:05.000")
		fmt.Fprintf(&out, "%s, 0, GPU-a, Fake A, 81920 MiB, %d MiB, %d MiB, %d %%, [N/A]\n", stamp, used, 81920-used, util)
	}
	ts.Check(os.WriteFile(filepath.Join(ts.MkAbs("."), args[2]), []byte(out.String()), 0o600))
}

package results_test

import (
	"testing"

	"rung/results"
	"rung/results/resultstest"
	"rung/sinks/record"
)

// What the servers said of their settings decides whether a change took effect.
func TestCompareSettingsInForce(t *testing.T) {
	a, b := resultstest.Small().Run(), resultstest.Small().Run()
	a.Manifest.Server.Settings = []record.Setting{{Name: "max_num_seqs", InForce: "2", Source: "log"}, {Name: "block_size", InForce: "16", Source: "page"}}
	b.Manifest.Server.Settings = []record.Setting{{Name: "max_num_seqs", InForce: "8", Source: "log"}, {Name: "block_size", InForce: "16", Source: "page"}}
	c, err := results.Compare(a.Sealed(), b.Sealed(), false)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.InForce) != 1 || c.InForce[0] != "in force: max_num_seqs 8 (log), before 2" {
		t.Errorf("%q", c.InForce)
	}
	has(t, "verdict", c.Verdict, "Nothing moved, though the server runs with other settings", "max_num_seqs 8")
	b.Manifest.Server.Settings[0] = record.Setting{Name: "max_num_seqs", Flag: "--max-num-seqs", Asked: "8", InForce: "2", Source: "log", Differs: true}
	if c, err = results.Compare(a.Sealed(), b.Sealed(), false); err != nil || len(c.InForce) != 1 {
		t.Fatalf("%v, %q", err, c.InForce)
	}
	has(t, "verdict", c.Verdict, "a change did not take effect", "not in force: --max-num-seqs 8; the server runs with 2 (log)")
}

package results

import (
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rung/spec/plan"
)

// defaultKnee is the language's default for analysis.knee.
func defaultKnee(rule string) plan.Knee {
	return plan.Knee{Rule: rule, Elasticity: 0.5, Tie: 0.05, P95Rise: 1.10, Factor: 0.5, Flat: 0.05, Gain: 0.5, P95OverBaseline: 1.5}
}

// table reads a CSV file into a map a row.
func table(t *testing.T, file string) []map[string]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, name := range rows[0] {
			m[name] = row[i]
		}
		out = append(out, m)
	}
	return out
}

func float(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// ladders reads a file of knee/: a case's rungs up to the first whose failure
// ratio, over all passes, is above the default stop rule's.
func ladders(t *testing.T, file string) (curves map[string]curve, boundary map[string]float64) {
	t.Helper()
	type cell struct{ x, p95, failed float64 }
	cells := map[string]map[float64]map[int]cell{} // case, load, pass
	for _, r := range table(t, file) {
		byLoad := cells[r["case"]]
		if byLoad == nil {
			byLoad = map[float64]map[int]cell{}
			cells[r["case"]] = byLoad
		}
		load := float(t, r["load"])
		if byLoad[load] == nil {
			byLoad[load] = map[int]cell{}
		}
		byLoad[load][int(float(t, r["pass"]))] = cell{float(t, r["throughput"]), float(t, r["p95_s"]), float(t, r["failure_ratio"])}
	}
	curves, boundary = map[string]curve{}, map[string]float64{}
	stop := plan.Stop{FailureRatio: 0.01}
	for name, byLoad := range cells {
		var c curve
		for _, load := range slices.Sorted(maps.Keys(byLoad)) {
			const sent = 10000 // the file has ratios; the stop rule counts
			tally := plan.Tally{ByName: map[string]int{}}
			for _, v := range byLoad[load] {
				tally.Total += sent
				tally.Failures += int(v.failed * sent)
			}
			if stop.Edge(tally) != "" {
				c.cut = "failures began"
				break
			}
			c.load = append(c.load, load)
			boundary[name] = load
			for _, pass := range slices.Sorted(maps.Keys(byLoad[load])) {
				for len(c.x) <= pass {
					c.x, c.p95 = append(c.x, nil), append(c.p95, nil)
				}
				c.x[pass] = append(c.x[pass], byLoad[load][pass].x)
				c.p95[pass] = append(c.p95[pass], byLoad[load][pass].p95)
			}
		}
		curves[name] = c
	}
	return curves, boundary
}

// TestTruth holds the rule power against ladders whose truth is known by
// construction. RUNG_LADDERS=FILE takes another file of that form, with its
// verdicts beside it in FILE-verdicts.csv.
func TestTruth(t *testing.T) {
	file := os.Getenv("RUNG_LADDERS")
	if file == "" {
		file = filepath.Join("testdata", "ladders.csv")
	}
	curves, boundary := ladders(t, file)
	verdicts := table(t, strings.TrimSuffix(file, ".csv")+"-verdicts.csv")
	right, edges, rule := 0, 0, 0
	for _, v := range verdicts {
		c := curves[v["case"]]
		p := power(defaultKnee("power"), c)
		got := "-2"
		switch p.answer {
		case Found, AtOrBelowFirst:
			got = fmt.Sprint(c.load[p.best])
		case NotReached:
			got = "-1"
		default:
		}
		if got == v["true_best"] {
			right++
		} else {
			t.Logf("%s: best rung %s, and the truth is %s", v["case"], got, v["true_best"])
		}
		if got == v["rule_best"] {
			rule++
		}
		if fmt.Sprint(boundary[v["case"]]) == v["true_boundary"] {
			edges++
		}
		if share := resample(power, defaultKnee("power"), c); len(share) == 0 {
			t.Errorf("%s: no resample", v["case"])
		}
	}
	n := len(verdicts)
	t.Logf("best rung right in %d of %d (%.1f %%), as the reference in %d, boundary right in %d", right, n, 100*float64(right)/float64(n), rule, edges)
	if n == 0 || float64(right) < 0.98*float64(n) || edges != n {
		t.Errorf("want the true best rung in 98 %% and the true boundary in all of %d", n)
	}
}

// The shares of the published verdicts come from all multisets of five passes.
func TestTruthShares(t *testing.T) {
	curves, _ := ladders(t, filepath.Join("testdata", "ladders.csv"))
	for _, v := range table(t, filepath.Join("testdata", "ladders-verdicts.csv")) {
		c := curves[v["case"]]
		k := defaultKnee("power")
		name := power(k, c).name(c)
		for _, a := range resample(power, k, c) {
			if want := float(t, v["share"]); a.Answer == name && (a.Share > want+0.03 || a.Share < want-0.03) {
				t.Errorf("%s: share of %s is %.3f, published is %.3f", v["case"], name, a.Share, want)
			}
		}
	}
}

// Two ladders of real servers, see testdata/README.md.
func TestTruthRealServers(t *testing.T) {
	curves, _ := ladders(t, filepath.Join("testdata", "real.csv"))
	vllm, llama := curves["vllm-chat-4seqs"], curves["llama-embed-batch"]
	check := func(what string, c curve, r rule, want string, answer Answer) {
		t.Helper()
		p := r(defaultKnee(""), c)
		if got := p.name(c); got != want || p.answer != answer {
			t.Errorf("%s: %s (%s), want %s (%s)", what, got, p.answer, want, answer)
		}
	}
	check("vllm by power", vllm, power, "4", Found)
	check("vllm by half_increment", vllm, halfIncrement, "4", Found)
	vllm.base = median(column(vllm.p95, 0))
	check("vllm by gain_and_p95", vllm, gainAndP95, "4", Found)
	check("llama by power", llama, power, "1", AtOrBelowFirst)
	check("llama by half_increment", llama, halfIncrement, "2", Found)
	for p := range vllm.x {
		one := curve{load: vllm.load, x: vllm.x[p : p+1], p95: vllm.p95[p : p+1], base: vllm.p95[p][0]}
		check(fmt.Sprintf("vllm, pass %d alone, by power", p), one, power, "4", Found)
		check(fmt.Sprintf("vllm, pass %d alone, by half_increment", p), one, halfIncrement, "4", Found)
		check(fmt.Sprintf("vllm, pass %d alone, by gain_and_p95", p), one, gainAndP95, "4", Found)
	}
}

package spec

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCellsOfAMatrix(t *testing.T) {
	p := mustLoad(t, read(t, "testdata/valid/matrix.hcl"), Options{}).Plan
	type cell struct {
		Name, Body string
		Tokens     int
		Rungs      int
		Warmup     int
	}
	var got []cell
	hashes := map[string]bool{}
	for i, c := range p.Cells {
		if c.Index != i || len(c.Values) != 2 || c.Values[0].Name != "seqs" {
			t.Errorf("%d: %+v", i, c.Values)
		}
		got = append(got, cell{c.Name, string(c.Body), c.Baseline.Shape.InputTokens, len(c.Ladders[0].Rungs), c.Baseline.Warmup})
		hashes[c.WorkloadHash] = true
	}
	want := []cell{
		{"seqs=2,dtype=half", `{"dtype":"half"}`, 128, 2, 2},
		{"seqs=2,dtype=b-f-16", `{"dtype":"b f/16"}`, 128, 2, 2},
		{"seqs=2,dtype=true", `{"dtype":true}`, 128, 2, 2},
		{"seqs=4,dtype=half", `{"dtype":"half"}`, 256, 3, 4},
		{"seqs=4,dtype=b-f-16", `{"dtype":"b f/16"}`, 256, 3, 4},
		{"seqs=4,dtype=true", `{"dtype":true}`, 256, 3, 4},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(hashes) != 2 { // the body is no part of the workload
		t.Errorf("%d workload hashes", len(hashes))
	}
}

// Names that become one by what may not stand in a folder's stay apart.
func TestCellNamesAreUnique(t *testing.T) {
	long := strings.Repeat("x", 90)
	source := "matrix {\n a = [\"b/c\", \"b c\", 1, \"1\", \"" + long + "1\"]\n d = [\"" + long + "\", \"e\"]\n}\n" + small("ladder \"batch\" { rungs = [1] }\n")
	seen := map[string]bool{}
	for _, c := range mustLoad(t, source, Options{}).Plan.Cells {
		if seen[c.Name] || len(c.Name) > maxCellName+5 || strings.ContainsAny(c.Name, "/ ") {
			t.Errorf("name %q", c.Name)
		}
		seen[c.Name] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d cells", len(seen))
	}
}

// What is wrong in every cell is said once; what differs names the first cell.
func TestFindingsOfCells(t *testing.T) {
	source := "matrix {\n n = [1, 0, -1]\n}\n" + small("ladder \"batch\" {\n rungs = [1]\n passes = 3\n stray = 1\n rounds = matrix.n\n warmup = \"x\"\n}\n")
	_, diags := load(t, source, Options{})
	if diags.Errors() != 3 {
		t.Fatalf("%v", said(diags))
	}
	for _, d := range diags {
		if named := strings.Contains(d.Detail, "(In the cell n=0.)"); named != (d.Summary == string(sumOutOfRange)) {
			t.Errorf("%s: %s", d.Summary, d.Detail)
		}
	}
}

// A sensitive value beside one that the matrix decides is fine.
func TestSecretBesideTheMatrix(t *testing.T) {
	res := mustLoad(t, read(t, "testdata/valid/matrix.hcl"), Options{Vars: map[string]string{"token": secret}, ForRun: true})
	if got := res.Secrets.Body["key"].Reveal(); got != `"`+secret+`"` {
		t.Error(got)
	}
}

// The server, retests and the confirmation are each cell's own.
func TestServerAndChecksOfCells(t *testing.T) {
	source := `matrix {
  seqs = [4, 8]
}
server {
  command = ["serve", "--max-num-seqs", tostring(matrix.seqs)]
  env     = { SEQS = "n${matrix.seqs}" }
}
retest {
  ladder   = ladder.batch
  requests = 10 * matrix.seqs
}
confirm {
  requests = 20 * matrix.seqs
}
` + small("ladder \"batch\" { rungs = [1, 2] }\n")
	for i, c := range mustLoad(t, source, Options{}).Plan.Cells {
		n := 4 * (i + 1)
		if c.Server.Command[2] != strconv.Itoa(n) || c.Server.Env[0].Value != "n"+strconv.Itoa(n) || c.Retests[0].Requests != 10*n || c.Confirm.Requests != 20*n {
			t.Errorf("%+v", c)
		}
	}
}

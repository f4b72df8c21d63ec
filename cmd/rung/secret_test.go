package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// secretSpec has a secret wherever one can stand.
const secretSpec = `
variable "password" {
  default   = env("RUNG_TEST_PASSWORD", "")
  sensitive = true
}
variable "key" {
  sensitive = true
}
`

// secretSpecOf makes the crash test's spec one with secrets: in the url, in a header, in
// the body.
func secretSpecOf(spec string) string {
	spec = strings.Replace(spec, `"http://`, `"http://bob:${var.password}@`, 1)
	spec = strings.Replace(spec, `  model = "m"`, `  model = "m"
  headers = { Authorization = "Bearer ${var.key}" }
  body    = { user = var.key }`, 1)
	return spec + secretSpec
}

// A secret stands in no file and no stream of a run: not while it goes on, when only its
// journal has some rows, not in what a kill leaves, and not in what comes of it.
func TestSecretsAreNowhere(t *testing.T) {
	ownProcesses(t)
	c := &crash{t: t, dir: t.TempDir()}
	if err := c.serve(); err != nil {
		t.Fatal(err)
	}
	defer c.end()
	b, err := os.ReadFile(c.spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.spec, []byte(secretSpecOf(string(b))), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RUNG_TEST_PASSWORD", "hunter2-in-the-url")
	t.Setenv("RUNG_VAR_key", "hunter2-as-a-key")

	var said bytes.Buffer
	first := c.rung("run", c.spec, "--no-self-check", "--out", c.dir)
	first.Stdout, first.Stderr = &said, &said
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	drafts := filepath.Join(c.dir, "crash", "*", "journal", "drafts.log")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if found, _ := filepath.Glob(drafts); len(found) > 0 || time.Now().After(deadline) {
			break
		}
	}
	_ = first.Process.Kill()
	_ = first.Wait()
	noSecretIn(t, filepath.Join(c.dir, "crash"))
	for _, args := range [][]string{
		{"report", filepath.Join(c.dir, "crash")}, {"report", "--json", filepath.Join(c.dir, "crash")},
		{"check", c.spec}, {"check", "--json", c.spec}, {"plan", c.spec}, {"plan", "--json", c.spec}, {"plan", "--ask", c.spec},
		{"run", c.spec, "--no-self-check", "--resume", filepath.Join(c.dir, "crash")}, {"report", filepath.Join(c.dir, "crash")},
	} {
		out, err := c.rung(args...).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		said.Write(out)
	}
	if i := strings.Index(said.String(), "hunter2"); i >= 0 {
		t.Errorf("said: …%s…", said.String()[max(0, i-80):i+20])
	}
	noSecretIn(t, filepath.Join(c.dir, "crash"))
	run, err := c.open()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range run.Requests { // compressed columns are not seen by a search of bytes
		if strings.Contains(q.Error+q.RejectReason, "hunter2") {
			t.Errorf("a row has %q", q.Error)
		}
	}
}

// noSecretIn searches every file of a folder.
func noSecretIn(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte("hunter2")) {
			t.Errorf("%s has a secret", path)
		}
		files++
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files, %v", files, err)
	}
}

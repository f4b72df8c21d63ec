package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"rung": main, "fakeserver": fakeserver, "faketei": faketei})
}

// The command as its users meet it: what it prints where, and its exit status.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: scriptServers,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  cmdExits,
			"ascii":  cmdASCII,
			"narrow": cmdNarrow,
			"absent": cmdAbsent,
			"smicsv": cmdSMICSV,
		},
		RequireExplicitExec: true,
	})
}

// scriptServers gives each script servers that are no good, each in its way.
func scriptServers(e *testscript.Env) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(e.T().(testing.TB).Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	gone := ln.Addr().String()
	if err := ln.Close(); err != nil {
		return err
	}
	serve := func(status int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}))
		e.Defer(s.Close)
		return s.URL
	}
	repository, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	e.Vars = append(e.Vars,
		"GONE=http://"+gone,
		"OTHER_MODEL="+serve(200, `{"data":[{"id":"another-model"}]}`),
		"KEYED="+serve(401, `{"error":{"message":"invalid api key"}}`),
		"WEB="+serve(200, "<html><body>It works!</body></html>"),
		"EXAMPLES="+filepath.Join(repository, "examples"),
		"LC_ALL=C.UTF-8",
		"HOME="+e.WorkDir,
	)
	return nil
}

// exits STATUS COMMAND...: runs it and holds its exit status.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// ascii FILE: the file holds nothing but ASCII.
func cmdASCII(ts *testscript.TestScript, _ bool, args []string) {
	for i, line := range strings.Split(ts.ReadFile(args[0]), "\n") {
		for _, r := range line {
			if r > 126 {
				ts.Fatalf("%s:%d: %q is no ASCII: %s", args[0], i+1, r, line)
			}
		}
	}
}

// narrow COLUMNS FILE: no line is wider, but for those that are to be copied whole
// (a path, the query).
func cmdNarrow(ts *testscript.TestScript, _ bool, args []string) {
	width, err := strconv.Atoi(args[0])
	ts.Check(err)
	for i, line := range strings.Split(ts.ReadFile(args[1]), "\n") {
		query := slices.ContainsFunc([]string{"select ", "from ", "where "}, func(word string) bool { return strings.HasPrefix(strings.TrimSpace(line), word) })
		if utf8.RuneCountInString(line) > width && !query && strings.Count(strings.TrimSpace(line), " ") > 2 {
			ts.Fatalf("%s:%d: wider than %d: %s", args[1], i+1, width, line)
		}
	}
}

// absent TEXT FOLDER: no file below the folder holds the text.
func cmdAbsent(ts *testscript.TestScript, _ bool, args []string) {
	err := filepath.WalkDir(ts.MkAbs(args[1]), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), args[0]) {
			return fmt.Errorf("%s holds %q", path, args[0])
		}
		return err
	})
	ts.Check(err)
}

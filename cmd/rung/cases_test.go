package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// cases are kinds of fault that people who measure inference servers have met. Each is
// a test of its own, TestCase and its number, which stands where its rule does.
var cases = map[string]string{
	"01": "a stream that fails behind its headers",
	"03": "a stream that ends without a word of why",
	"04": "an engine that dies part-way up a ladder",
	"05": "a server that takes everything and answers nothing",
	"07": "TEI's statuses, in both of its forms of an error",
	"08": "a queue that is full",
	"09": "a 413 of three meanings",
	"10": "one out of memory in many requests",
	"12": "a limit in characters",
	"14": "fewer vectors than inputs",
	"15": "vectors in base64",
	"16": "a parameter that the server refuses",
	"17": "a limit that the server calls its own error",
	"18": "slots that share one context",
	"19": "an input over the model's context",
	"20": "a length that the special tokens fill",
	"21": "usage that a stream gives when asked",
	"22": "a stream without usage",
	"23": "usage in a chunk without choices",
	"25": "usage that its chunks contradict",
	"26": "ids that text does not give back",
	"27": "a tokeniser that counts otherwise than answers",
	"28": "what a template adds",
	"29": "answers that end early",
	"30": "more chunks than tokens",
	"31": "a first chunk without text",
	"33": "several tokens in a chunk",
	"35": "a client without time",
	"36": "a client that holds back",
	"37": "more arrivals than a server can take",
	"38": "descriptors that run out",
	"39": "arrivals at a server that never answers",
	"41": "a wall clock that steps",
	"42": "requests in flight as the time is up",
	"43": "warm-ups at the edge of a round",
	"44": "a window hardly longer than its requests",
	"45": "failures that come at once",
	"46": "a P99 of few requests",
	"47": "a 429 that is no retry",
	"48": "a Retry-After in both forms",
	"49": "a stop rule before anything is done",
	"50": "a server that never comes to rest",
	"51": "a knee sought in few points",
	"53": "first requests of a shape, and after idle time",
	"54": "the first request after a gap",
	"55": "clocks that fall in a run",
	"57": "throughput that falls without an error",
	"59": "a ladder that falls from its first rung",
	"60": "what nvidia-smi does not know",
	"61": "memory that card and host share",
	"66": "orders of cards, and two calls for memory",
	"67": "a card that is lost, a tool that is missing",
	"58": "preemptions in a window",
	"63": "an exporter without the series of memory",
	"65": "a metric of two names, and a page without any",
	"68": "a connection closed while it lay idle",
	"69": "long lines of a stream",
	"70": "HTTP/2 and its number of streams",
	"71": "addresses of IPv6, and proxies that nobody declared",
	"72": "a byte-order mark, and lines that end in two ways",
	"73": "a process that is killed before the footer",
}

// further are numbers of cases that may have a test and need not have one here.
var further = []string{"64"}

// Every case has its test, once, and no test is of a case that nobody knows.
func TestEveryCaseHasATest(t *testing.T) {
	found := map[string][]string{}
	for name, files := range caseTests(t, moduleRoot(t)) {
		number := name[:2]
		if cases[number] == "" && !slices.Contains(further, number) {
			t.Errorf("TestCase%s in %s is of no known case", name, strings.Join(files, ", "))
		}
		if cases[number] != "" && name != number {
			t.Errorf("TestCase%s in %s: the name is to be the number alone", name, strings.Join(files, ", "))
		}
		found[number] = append(found[number], files...)
	}
	for number, what := range cases {
		if n := len(found[number]); n != 1 {
			t.Errorf("case %s (%s) has %d tests: %s", number, what, n, strings.Join(found[number], ", "))
		}
	}
}

// moduleRoot is the folder that has the go.mod above this package.
func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(".")
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	t.Fatal("no go.mod above this package", err)
	return ""
}

// caseTests gives the files of each test whose name begins with TestCase and a number,
// by what follows TestCase.
func caseTests(t *testing.T, root string) map[string][]string {
	t.Helper()
	test := regexp.MustCompile(`(?m)^func TestCase(\d\d\w*)\(`)
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != root && strings.HasPrefix(e.Name(), "."):
			return filepath.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		b, err := os.ReadFile(path)
		for _, m := range test.FindAllSubmatch(b, -1) {
			out[string(m[1])] = append(out[string(m[1])], strings.TrimPrefix(path, root+string(filepath.Separator)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

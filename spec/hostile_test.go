package spec

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// hostileCase is a file that is too large to be a fixture.
type hostileCase struct {
	name string
	file string
	says summary // "" where any error will do
	err  error   // of reading the file
}

const rest = `
experiment "e" {}
target {
  api   = "openai-embeddings"
  url   = "http://h"
  model = "m"
}
prompt "p" {
  tokens = 1
}
ladder "batch" {
  rungs  = [1]
  passes = 3
}
`

func locals(value string) string { return rest + "locals {\n  a = " + value + "\n}\n" }

func repeat(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

func hostile() []hostileCase {
	many := func(kind, body string) func(int) string {
		return func(i int) string { return fmt.Sprintf("%s \"x%d\" {\n%s\n}\n", kind, i, body) }
	}
	return []hostileCase{
		{name: "unreadable", err: errors.New("the disk is on fire"), says: sumUnreadable},
		{name: "large", file: strings.Repeat("# comment\n", 1+maxFile/10), says: sumTooLarge},
		{name: "large, with CRLF", file: strings.Repeat("\r\n", 1+maxFile/2), says: sumTooLarge},
		{name: "brackets", file: locals(strings.Repeat("[", 100_000)), says: sumTooDeep},
		{name: "braces", file: locals(strings.Repeat("{a=", 100_000)), says: sumTooDeep},
		{name: "blocks", file: strings.Repeat("a {\n", 100_000), says: sumTooDeep},
		{name: "parentheses with wrong closers", file: locals(strings.Repeat("([)", 100_000)), says: sumTooDeep},
		{name: "templates", file: locals(strings.Repeat(`"${`, 100_000)), says: sumTooDeep},
		{name: "nots", file: locals(strings.Repeat("!", 1_000_000)), says: sumTooComplex},
		{name: "minuses", file: locals(strings.Repeat("-", 1_000_000)), says: sumTooComplex},
		{name: "sum", file: locals("1" + strings.Repeat("+1", 300_000)), says: sumTooComplex},
		{name: "conditions", file: locals(strings.Repeat("true?1:", 100_000) + "1"), says: sumTooComplex},
		{name: "indices", file: locals("a" + strings.Repeat("[b]", 100_000)), says: sumTooComplex},
		{name: "splats", file: locals("[1]" + strings.Repeat(".*", 100_000)), says: sumTooComplex},
		{name: "template ifs", file: locals(`"` + strings.Repeat("%{if true}", 100_000) + `"`), says: sumTooComplex},
		{name: "attribute steps", file: locals("{}" + strings.Repeat(".a", 400_000))},
		{name: "a variable cut off", file: "variable \"\" nsitive=\n0"},
		{name: "a header cut off", file: "target {\n  headers = { a ="},
		{name: "an environment cut off", file: "server {\n  command = [\"a\"]\n  env = { a ="},
		{name: "a mix cut off", file: "prompt \"p\" {\n  mix = { a ="},
		{name: "quotes", file: locals(strings.Repeat(`"`, 1_000_000))},
		{name: "apostrophes", file: strings.Repeat(`'`, 1_000_000)},
		{name: "curly quotes", file: strings.Repeat("“", 300_000)},
		{name: "zeros", file: strings.Repeat("\x00", 1_000_000), says: sumNotText},
		{name: "no UTF-8", file: strings.Repeat("\xff", 1_000_000)},
		{name: "combining marks", file: locals(`"a` + strings.Repeat("\u0301", 400_000) + `" + foo`)},
		{name: "long line", file: locals("[" + strings.Repeat("x,", 400_000) + "]")},
		{name: "long name", file: rest + strings.Repeat("a", 1_000_000) + " {}\n"},
		{name: "long function", file: locals(strings.Repeat("a", 900_000) + "()")},
		{name: "unknown attributes", file: "target {\n" + repeat(40_000, func(i int) string { return fmt.Sprintf("a%d = 1\n", i) }) + "}", says: sumTooManyErrors},
		{name: "long number", file: locals(strings.Repeat("9", 900_000)), says: sumOutOfRange},
		{name: "huge exponent", file: locals(`"x${1e999999999}"`), says: sumOutOfRange},
		{name: "tiny exponent", file: locals(`"x${1e-999999999}"`), says: sumOutOfRange},
		{name: "growing exponent", file: rest + "locals {\n  a0 = 1e300\n" + repeat(40, func(i int) string {
			return fmt.Sprintf("  a%d = local.a%d * local.a%d\n", i+1, i, i)
		}) + "}\n", says: sumOutOfRange},
		{name: "shrinking exponent", file: rest + "locals {\n  a0 = 1e-300\n" + repeat(40, func(i int) string {
			return fmt.Sprintf("  a%d = local.a%d * local.a%d\n", i+1, i, i)
		}) + "  b = \"x${local.a40}\"\n}\n", says: sumOutOfRange},
		{name: "doubling text", file: rest + "locals {\n  a0 = \"xxxxxxxx\"\n" + repeat(64, func(i int) string {
			return fmt.Sprintf("  a%d = \"${local.a%d}${local.a%d}\"\n", i+1, i, i)
		}) + "}\n", says: sumTooCostly},
		{name: "doubling list", file: rest + "locals {\n  a0 = [1]\n" + repeat(64, func(i int) string {
			return fmt.Sprintf("  a%d = [local.a%d, local.a%d]\n", i+1, i, i)
		}) + "}\n", says: sumTooCostly},
		{name: "product", file: rest + "locals {\n  a = [" + strings.Repeat("1,", 1000) + "]\n  b = [for x in local.a : [for y in local.a : [for z in local.a : 1]]]\n}\n", says: sumTooCostly},
		{name: "joins", file: rest + "locals {\n  a = \"" + strings.Repeat("x", 100_000) + "\"\n  b = join(local.a, [" + strings.Repeat(`"",`, 4000) + "])\n}\n", says: sumTooCostly},
		{name: "long chain of locals", file: rest + "locals {\n  a0 = 1\n" + repeat(990, func(i int) string { return fmt.Sprintf("  a%d = local.a%d\n", i+1, i) }) + "  b = nothing\n}\n"},
		{name: "variables", file: repeat(maxNames+1, many("variable", "default = 1")), says: sumTooMany},
		{name: "locals", file: rest + "locals {\n" + repeat(maxNames+1, func(i int) string { return fmt.Sprintf("a%d = 1\n", i) }) + "}\n", says: sumTooMany},
		{name: "prompts", file: repeat(maxPrompts+1, many("prompt", "tokens = 1")), says: sumTooMany},
		{name: "ladders", file: repeat(maxLadders+1, many("ladder", "axis = \"batch\"\nrungs = [1]")), says: sumTooMany},
		{name: "rungs", file: rest + "ladder \"b2\" {\n axis = \"batch\"\n rungs = [" + strings.Repeat("1,", maxRungs+1) + "]\n}\n", says: sumOutOfRange},
		{name: "work", file: rest + "ladder \"b2\" {\n axis = \"batch\"\n passes = 100\n rounds = 1000000\n requests = 1000000\n warmup = 1000000\n rungs = doubling(1, 1000)\n}\n", says: sumTooMuchWork},
	}
}

func TestHostile(t *testing.T) {
	for _, h := range hostile() {
		t.Run(h.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, diags := Load("hostile.hcl", Options{ReadFile: func(string) ([]byte, error) { return []byte(h.file), h.err }})
			runtime.ReadMemStats(&after)
			if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 1024 {
				t.Errorf("allocated %d MiB in all", mib)
			}
			if !diags.HasErrors() {
				t.Fatal("no error")
			}
			found := h.says == ""
			for _, d := range diags {
				found = found || d.Summary == string(h.says)
			}
			if !found {
				t.Errorf("%q is not among what is said: %v", h.says, said(diags))
			}
			var text strings.Builder
			if err := diags.Render(&text, 80, false); err != nil {
				t.Error(err)
			}
			if text.Len() > 300_000 {
				t.Errorf("says %d bytes", text.Len())
			}
			if strings.ContainsAny(text.String(), "\x00\x1b\x7f") {
				t.Error("control characters reach the terminal")
			}
		})
	}
}

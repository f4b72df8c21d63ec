package spec

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
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
		{name: "templates", file: locals(strings.Repeat(`"${`, 100_000)), says: sumOpenQuote},
		{name: "closed templates", file: locals(strings.Repeat(`"${`, 10_000) + "1" + strings.Repeat(`}"`, 10_000)), says: sumTooDeep},
		{name: "many open quotes", file: rest + strings.Repeat("a = \"x\n", 1_000), says: sumOpenQuote},
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
		{name: "nested ranges", file: locals("[for x in range(1000) : [for y in range(1000) : [for z in range(1000) : 1]]]"), says: sumTooCostly},
		{name: "setproduct", file: locals("setproduct(range(1000), range(1000), range(1000))"), says: sumTooCostly},
		{name: "setproduct of itself", file: locals("setproduct([range(1000), range(1000), range(1000)]...)"), says: sumTooCostly},
		{name: "setproduct in a loop", file: locals("[for x in range(1000) : setproduct([x], range(1000))]"), says: sumTooCostly},
		{name: "replace", file: rest + "locals {\n  a = \"" + strings.Repeat("x", 100_000) + "\"\n  b = replace(local.a, \"\", local.a)\n}\n", says: sumTooCostly},
		{name: "format", file: rest + "locals {\n  a = \"" + strings.Repeat("x", 100_000) + "\"\n  b = format(\"" + strings.Repeat("%[1]s", 10_000) + "\", local.a)\n}\n", says: sumTooCostly},
		{name: "wide format", file: locals(`format("%999999999d", 1)`)},
		{name: "wide format, by a text", file: locals(`format("%${"999999999"}d", 1)`)},
		{name: "long range", file: locals("range(1e15)")},
		{name: "endless range", file: locals("range(0, 1, 0)")},
		{name: "endless range in loops", file: locals("[for x in range(0, 1, 0) : [for y in range(10000) : [for z in range(10000) : 1]]]")},
		{name: "fine steps", file: locals("steps(0, 1e15, 1e-9)")},
		{name: "many ranges", file: rest + "locals {\n" + repeat(900, func(i int) string { return fmt.Sprintf("  a%d = range(10000)\n", i) }) + "}\n", says: sumTooCostly},
		{name: "many geometrics", file: rest + "locals {\n" + repeat(900, func(i int) string { return fmt.Sprintf("  a%d = geometric(1, 1000000, 200)\n", i) }) + "}\n", says: sumTooCostly},
		{name: "pow", file: locals(`"x${pow(10, 999999999)}"`)},
		{name: "parseint", file: locals(`"x${parseint("1` + strings.Repeat("0", 900_000) + `", 10)}"`)},
		{name: "text as number", file: locals(`"x${"1e999999999" + 0}"`), says: sumTooCostly},
		{name: "text put together as number", file: locals(`"x${-"1e999${"999999"}"}"`), says: sumTooCostly},
		{name: "text in an object as number", file: locals(`"x${{ a = "1e999999999" }.a * 1}"`), says: sumTooCostly},
		{name: "text of a loop as number", file: locals(`[for k, v in { "1e999999999" = 1 } : "x${k * v}"]`), says: sumTooCostly},
		{name: "text of a local as number", file: rest + "locals {\n  a = [\"1e999999999\"]\n  b = \"x${local.a[0] + 1}\"\n}\n", says: sumTooCostly},
		{name: "text in max", file: locals(`"x${max("1e999999999", 0)}"`)},
		{name: "text in ceil", file: locals(`ceil("1e${"999999999"}")`)},
		{name: "text in tonumber", file: locals(`"x${tonumber("1e999999999")}"`)},
		{name: "text in format", file: locals(`format("%d", "1e999999999")`)},
		{name: "text in sum", file: locals(`"x${sum(["1e999999999"])}"`)},
		{name: "text in range", file: locals(`range("1e999999999")`)},
		{name: "text in steps", file: locals(`steps(0, "1e999999999", 1)`)},
		{name: "text in doubling", file: locals(`doubling(1, "1e999999999")`)},
		{name: "text in slice", file: locals(`slice([1], 0, "1e999999999")`)},
		{name: "text in substr", file: locals(`substr("a", 0, "1e999999999")`)},
		{name: "text as index", file: locals(`[1]["1e999999999"]`)},
		{name: "text in jsonencode", file: locals(`jsonencode(1 / "1e-999999999")`), says: sumTooCostly},
		{name: "matrix of many cells", file: rest + "matrix {\n a = range(100)\n b = range(100)\n c = range(100)\n}\n", says: sumOutOfRange},
		{name: "matrix of many blocks", file: repeat(900, many("prompt", "tokens = 1")) + rest + "matrix {\n a = range(100)\n b = range(10)\n}\n", says: sumTooMany},
		{name: "matrix of dear cells", file: rest + "matrix {\n a = range(100)\n b = range(10)\n}\nprompt \"q\" {\n  tokens = length([for x in range(150) : [for y in range(150) : x]])\n}\n", says: sumTooCostly},
		{name: "matrix of many visits", file: rest + "matrix {\n a = range(100)\n b = range(10)\n}\nladder \"b2\" {\n axis = \"batch\"\n passes = 100\n rounds = 1\n warmup = 0\n rungs = range(1, 1001)\n}\n", says: sumTooMuchWork},
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
			began := time.Now()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, diags := Load("hostile.hcl", Options{ReadFile: func(string) ([]byte, error) { return []byte(h.file), h.err }})
			runtime.ReadMemStats(&after)
			if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 1024 {
				t.Errorf("allocated %d MiB in all", mib)
			}
			if d := time.Since(began); d > 20*time.Second { // on a slow machine under the race detector too
				t.Errorf("took %s", d)
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

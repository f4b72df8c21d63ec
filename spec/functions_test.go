package spec

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// evaluated gives an expression's value as JSON, or what is said of it.
func evaluated(t *testing.T, text string) string {
	t.Helper()
	expr, diags := hclsyntax.ParseExpression([]byte(text), "f.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%s: %v", text, diags)
	}
	l := newLoader("f.hcl", Options{})
	l.src = []byte(text)
	v, ok := l.evaluate(expr)
	if !ok {
		return "error: " + l.findings[0].summary
	}
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFunctions(t *testing.T) {
	const wrong, call = "error: Invalid function argument", "error: Error in function call"
	for text, want := range map[string]string{
		`doubling(1, 24)`:                          `[1,2,4,8,16]`,
		`geometric(1, 64, 5)`:                      `[1,3,8,23,64]`,
		`geometric(1, 64, 4)`:                      `[1,4,16,64]`,
		`geometric(1, 4, 10)`:                      `[1,2,3,4]`,
		`geometric(5, 5, 2)`:                       `[5]`,
		`geometric(1, 1000000, 2)`:                 `[1,1000000]`,
		`geometric(2, 8, 3)`:                       `[2,4,8]`,
		`length(geometric(1, 1000000, 200)) > 150`: `true`,
		`geometric(0, 4, 3)`:                       wrong,
		`geometric(4, 1, 3)`:                       wrong,
		`geometric(1, 4, 1)`:                       wrong,
		`geometric(1.5, 4, 3)`:                     wrong,
		`steps(0, 100, 25)`:                        `[0,25,50,75,100]`,
		`steps(0, 100, 30)`:                        `[0,30,60,90]`,
		`steps(5, 5, 3)`:                           `[5]`,
		`steps(0, 0.5, 0.1)`:                       `[0,0.1,0.2,0.3,0.4,0.5]`,
		`steps(-2, 2, 2)`:                          `[-2,0,2]`,
		`steps(1, 0, 1)`:                           wrong,
		`steps(0, 1, 0)`:                           wrong,
		`steps(0, 1, -1)`:                          wrong,
		`range(3)`:                                 `[0,1,2]`,
		`range(1, 4)`:                              `[1,2,3]`,
		`range(4, 1, -1)`:                          `[4,3,2]`,
		`range(0, 1, 0.5)`:                         `[0,0.5]`,
		`range(0)`:                                 `[]`,
		`range(3, 1)`:                              `[]`,
		`range(1, 2, 0)`:                           wrong,
		`length(range(10000))`:                     `10000`,
		`range(10001)`:                             wrong,
		`distinct([1, 2, 1, 3, 2])`:                `[1,2,3]`,
		`distinct([])`:                             `[]`,
		`flatten([[1, [2]], 3])`:                   `[1,2,3]`,
		`sort(["b", "a"])`:                         `["a","b"]`,
		`sum([1, 2, 3.5])`:                         `6.5`,
		`sum([])`:                                  `0`,
		`sum(["x"])`:                               wrong,
		`slice([1, 2, 3], 1, 3)`:                   `[2,3]`,
		`values({ b = 1, a = 2 })`:                 `[2,1]`,
		`lookup({ a = 1 }, "b", 7)`:                `7`,
		`split(",", "a,b")`:                        `["a","b"]`,
		`replace("a-b", "-", "_")`:                 `"a_b"`,
		`substr("hello", 1, 3)`:                    `"ell"`,
		`format("--n=%03d", 7)`:                    `"--n=007"`,
		`format("%100d", 7)`:                       wrong,
		`jsonencode({ a = [1, "x"] })`:             `"{\"a\":[1,\"x\"]}"`,
		`parseint("ff", 16)`:                       `255`,
		`pow(2, 10)`:                               `1024`,
		`pow(10, 400)`:                             call,
		`signum(-3)`:                               `-1`,
		`coalesce(null, 2)`:                        `2`,
		`compact(["a", "", "b"])`:                  `["a","b"]`,
		`setproduct([1, 2], ["a"])`:                `[[1,"a"],[2,"a"]]`,
		`zipmap(["a"], [1])`:                       `{"a":1}`,
		`tostring(4)`:                              `"4"`,
		`tonumber("4")`:                            `4`,
		`length("héllo")`:                          `5`,
		`length([1, 2])`:                           `2`,
		`"4" + 1`:                                  `5`,
		`join(",", range(1, 100)) != ""`:           `true`,
		`[for x in range(30) : [for y in range(30) : x]][29][0]`: `29`,
	} {
		if got := evaluated(t, text); got != want {
			t.Errorf("%s is %s, not %s", text, got, want)
		}
	}
}

// A series' points do not hang on how a processor rounds: all around the halves.
func TestGeometricPointsAreExact(t *testing.T) {
	for _, c := range []struct{ from, to, i, m, want int64 }{
		{1, 64, 1, 4, 3}, {1, 64, 3, 4, 23}, {1, 1_000_000, 1, 2, 1000}, {9, 16, 1, 2, 12}, {1, 6, 1, 2, 2}, {2, 3, 1, 2, 2}, {1, 1_000_000, 199, 199, 1_000_000},
	} {
		if got := geometricPoint(c.from, c.to, c.i, c.m); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// The reference and the errors call an argument by the same name.
func TestArgumentNames(t *testing.T) {
	reference, _ := Section("functions")
	for name, f := range newLoader("", Options{}).functions() {
		want := strings.Fields(argumentNames()[name])
		if n := len(f.Params()); n > len(want) || f.VarParam() != nil && len(want) == 0 {
			t.Fatalf("%s has %d arguments, and the names %v", name, n, want)
		}
		if f.VarParam() != nil {
			want[len(want)-1] += "..."
		}
		if call := name + "(" + strings.Join(want, ", ") + ")"; name != "range" && !strings.Contains(reference, call) {
			t.Errorf("the reference does not have %s", call)
		}
	}
	_, diags := load(t, small("ladder \"batch\" {\n rungs = doubling(0, 4)\n}\n"), Options{})
	if len(diags) == 0 || !strings.Contains(diags[len(diags)-1].Detail, `"a"`) {
		t.Errorf("%+v", diags)
	}
}

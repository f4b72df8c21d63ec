package target

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// TestMain makes this binary the program that is called, where it is asked to be one.
func TestMain(m *testing.M) {
	if os.Getenv("RUNG_TEST_PROGRAM") != "" {
		beProgram()
		return
	}
	os.Exit(m.Run())
}

// beProgram answers as its inputs say.
func beProgram() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var q struct {
			Input []string `json:"input"`
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			fmt.Println(`{"error":{"message":"texts, please"}}`)
			continue
		}
		switch q.Input[0] {
		case "die":
			fmt.Fprintln(os.Stderr, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20 GiB")
			os.Exit(1)
		case "hang":
			child := exec.CommandContext(context.Background(), "sleep", "3600") // it must end with the program
			_ = child.Start()
			fmt.Fprintln(os.Stderr, "child", child.Process.Pid)
			_ = child.Wait()
		case "long":
			fmt.Print(strings.Repeat("x", 1<<20))
		case "half":
			fmt.Print(`{"data":[`)
			return
		}
		var data []string
		tokens := 0
		for i, text := range q.Input {
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[1,0.5]}`, i))
			tokens += len(strings.Fields(text))
		}
		fmt.Printf(`{"data":[%s],"usage":{"prompt_tokens":%d}}`+"\n", strings.Join(data, ","), tokens)
	}
}

func TestProgram(t *testing.T) {
	t.Setenv("RUNG_TEST_PROGRAM", "1")
	c, err := New(plan.Target{API: plan.Exec, Model: "m", Command: []string{os.Args[0]}, Timeout: plan.Timeout{Request: plan.Duration(10 * time.Second)}}, nil, plan.Secrets{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask := func(text string, limit int64) (Reply, Answer) {
		b, err := c.EmbedTexts([]string{text, "two words"})
		if err != nil {
			t.Fatal(err)
		}
		r := c.Send(t.Context(), b, limit, false)
		return r, c.Read(r, Want{Inputs: 2})
	}
	pid := c.program.cmd.Process.Pid
	for range 3 {
		r, a := ask("one\ntwo three", maxPage)
		if a.Outcome != record.OK || *a.InputTokens != 5 || a.InputsDone != 2 || r.FirstByte.IsZero() || c.program.cmd.Process.Pid != pid {
			t.Fatalf("%+v", a)
		}
	}
	if _, a := ask("die", maxPage); a.Outcome != record.OOM || !strings.Contains(a.Error, "Tried to allocate 20 GiB") {
		t.Errorf("a program that ends: %+v", a)
	}
	if _, a := ask("again", maxPage); a.Outcome != record.OK {
		t.Errorf("started again: %+v", a)
	}
	if _, a := ask("long", 1<<10); a.Outcome != record.BadResponse || !strings.Contains(a.Error, "larger than rung reads") {
		t.Errorf("an endless line: %+v", a)
	}
	if _, a := ask("half", maxPage); a.Outcome != record.Reset {
		t.Errorf("half a line: %+v", a)
	}
}

// A call that takes too long ends with the program and all that it started.
func TestProgramHangs(t *testing.T) {
	t.Setenv("RUNG_TEST_PROGRAM", "1")
	c, err := New(plan.Target{API: plan.Exec, Model: "m", Command: []string{os.Args[0]}, Timeout: plan.Timeout{Request: plan.Duration(300 * time.Millisecond)}}, nil, plan.Secrets{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b, err := c.EmbedTexts([]string{"hang"})
	if err != nil {
		t.Fatal(err)
	}
	r := c.Send(t.Context(), b, maxPage, false)
	if a := c.Read(r, Want{Inputs: 1}); a.Outcome != record.Timeout || r.Stage != record.StageTotal {
		t.Errorf("%+v", a)
	}
	var child int
	if _, err := fmt.Sscanf(c.program.stderr.String(), "child %d", &child); err != nil {
		t.Fatalf("%q: %v", c.program.stderr.String(), err)
	}
	for range 200 { // the system may take a moment to reap it
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		if err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d, which the program had started, runs still", child)
}

func TestProgramMissing(t *testing.T) {
	c, err := New(plan.Target{API: plan.Exec, Command: []string{"/no/such/program"}, Timeout: plan.Timeout{Request: plan.Duration(time.Second)}}, nil, plan.Secrets{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Discover(t.Context()); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("%v", err)
	}
	if a := c.Read(c.Send(t.Context(), []byte("{}"), maxPage, false), Want{}); a.Outcome != record.Refused {
		t.Errorf("%+v", a)
	}
}

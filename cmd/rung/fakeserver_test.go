package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeserver is a program that a spec's server.command starts: fakeserver KIND PORT
// FOLDER. It answers embeddings, and has the fault that its kind names; one that ends it
// is there in its first life alone, of which the file FOLDER/lived keeps note.
func fakeserver() {
	ctx := context.Background() // it ends with the process
	kind, port, folder := os.Args[1], os.Args[2], os.Args[3]
	fmt.Println("fakeserver", kind, "begins")
	_, err := os.Stat(folder + "/lived")
	first := err != nil
	_ = os.WriteFile(folder+"/lived", nil, 0o600)
	model := "m"
	switch kind {
	case "exits":
		fmt.Fprintln(os.Stderr, "no such model: /models/x")
		os.Exit(3)
	case "never":
		select {}
	case "prints":
		line := []byte(strings.Repeat("Loading weights: 99% and so on, ", 32)[:1023] + "\n")
		for range 1 << 20 { // 1 GiB
			_, _ = os.Stdout.Write(line)
		}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "forks":
		_ = exec.CommandContext(ctx, "sleep", "3600").Start()
		_ = exec.CommandContext(ctx, "sh", "-c", "sleep 3601 & sleep 3602").Start()
	case "another":
		model = "other"
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+port)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	http.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"data":[{"id":%q}]}`, model)
	})
	http.HandleFunc("POST /v1/embeddings", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Input []json.RawMessage `json:"input"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		switch many := len(body.Input) >= 4; {
		case many && kind == "fails":
			fmt.Println("RuntimeError: DefaultCPUAllocator: can't allocate memory: you tried to allocate 805306368 bytes")
			http.Error(w, "EngineCore encountered an issue", http.StatusInternalServerError)
			return
		case many && first:
			perish(kind)
		}
		embed(w, body.Input)
	})
	fmt.Println(http.Serve(ln, nil))
}

// perish is how a kind of server ends.
func perish(kind string) {
	switch kind {
	case "memory":
		fmt.Fprintln(os.Stderr, "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc")
	case "killed":
	default:
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// embed answers with vectors, and counts ids as they are and words of a text.
func embed(w http.ResponseWriter, inputs []json.RawMessage) {
	tokens, data := 0, []string{}
	for i, in := range inputs {
		var ids []int
		var text string
		if json.Unmarshal(in, &ids) == nil {
			tokens += len(ids)
		} else if json.Unmarshal(in, &text) == nil {
			tokens += len(strings.Fields(text))
		}
		data = append(data, fmt.Sprintf(`{"index":%d,"object":"embedding","embedding":[0.5,0.25]}`, i))
	}
	time.Sleep(5 * time.Millisecond)
	_, _ = fmt.Fprintf(w, `{"object":"list","model":"m","data":[%s],"usage":{"prompt_tokens":%d,"total_tokens":%d}}`, strings.Join(data, ","), tokens, tokens)
}

// freePort is one at which nothing listens now.
func freePort(t *testing.T) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
}

package runner

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rung/runner/memnet"
)

// The tests run in virtual time: real HTTP over net.Pipe in a synctest bubble, so
// that spans are exact, an hour takes a moment, and a goroutine that is left over
// fails its test.

// asked is one request that reached the scripted server.
type asked struct {
	n      int // from 1, over all
	nth    int // from 1, among those with as many inputs
	inputs int
	tokens int // of the first input
	fields map[string]json.RawMessage
}

// said is the scripted server's answer; the zero value is a success.
type said struct {
	after  time.Duration
	status int
	body   string // of a failure
	tokens *int   // usage, where it is not the true one
	output *int
	cached int // tokens from the cache, in the usage
	header map[string]string
	drop   bool            // the connection is broken, after the body where there is one
	stale  bool            // and at once, as one that had been closed before
	until  <-chan struct{} // where set, the connection is broken when it closes
	dims   int
}

// fake is a scripted server.
type fake struct {
	net    *memnet.Listener
	server *http.Server
	wg     sync.WaitGroup

	serving atomic.Int64 // handlers
	dead    atomic.Bool  // each connection breaks, until it is alive again

	answer   func(asked) said                // nil: successes
	count    func(input json.RawMessage) int // tokens of an input; nil: ids as given, words of a text
	tokenise func(body string) (int, string) // nil: there is no such endpoint
	models   func(w http.ResponseWriter)     // nil: the model "m"
	metrics  func() string                   // nil: there is no page
	template int                             // tokens of a chat or a completion beside its words
	mu       sync.Mutex
	n        int
	byInputs map[int]int
	hang     chan struct{} // where set, the model list is not answered before it closes
	inFlight int
	most     int
	bodies   []string // SHA-256 of each
}

// serverIdle is after how long servers drop connections that lie idle.
const serverIdle = 5 * time.Second

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{net: memnet.Listen(), byInputs: map[int]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		if f.hang != nil {
			<-f.hang
		}
		if f.models != nil {
			f.models(w)
			return
		}
		fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
	})
	mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, r *http.Request) {
		if f.tokenise == nil {
			http.NotFound(w, r)
			return
		}
		b, _ := io.ReadAll(r.Body)
		status, body := f.tokenise(string(b))
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if f.metrics == nil {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, f.metrics())
	})
	mux.HandleFunc("POST /v1/embeddings", f.infer)
	mux.HandleFunc("POST /v1/chat/completions", f.infer)
	mux.HandleFunc("POST /v1/completions", f.infer)
	f.server = &http.Server{IdleTimeout: serverIdle, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.dead.Load() {
			panic(http.ErrAbortHandler)
		}
		f.serving.Add(1)
		defer f.serving.Add(-1)
		mux.ServeHTTP(w, r)
	})}
	f.wg.Go(func() { _ = f.server.Serve(f.net) })
	t.Cleanup(f.close)
	return f
}

func (f *fake) close() {
	_ = f.net.Close()
	_ = f.server.Close()
	f.wg.Wait()
	for synctest.Wait(); f.serving.Load() > 0; synctest.Wait() {
		time.Sleep(time.Millisecond)
	}
}

// seen is how many requests the server was asked.
func (f *fake) seen() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

func (f *fake) infer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	q := asked{}
	_ = json.Unmarshal(body, &q.fields)
	chat := strings.Contains(r.URL.Path, "chat")
	usage := f.measure(&q, chat)
	_, generates := q.fields["max_tokens"]
	f.mu.Lock()
	f.n++
	f.byInputs[q.inputs]++
	q.n, q.nth = f.n, f.byInputs[q.inputs]
	f.inFlight++
	f.most = max(f.most, f.inFlight)
	f.bodies = append(f.bodies, digest(body))
	f.mu.Unlock()
	var s said
	if f.answer != nil {
		s = f.answer(q)
	}
	least := time.Millisecond // nothing takes no time
	if s.drop && !s.stale && s.body == "" {
		least = 2500 * time.Millisecond // a server that breaks at once had closed the connection before
	}
	select {
	case <-time.After(max(s.after, least)):
	case <-r.Context().Done():
		s.drop = true
	case <-s.until:
		s.drop = true
	}
	f.mu.Lock()
	f.inFlight--
	f.mu.Unlock()
	if s.drop {
		if s.body != "" { // the answer had begun
			fmt.Fprint(w, s.body)
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	}
	for name, v := range s.header {
		w.Header().Set(name, v)
	}
	if s.status != 0 && s.status != http.StatusOK || s.body != "" {
		w.WriteHeader(max(s.status, http.StatusOK))
		fmt.Fprint(w, s.body)
		return
	}
	if s.tokens != nil {
		usage = *s.tokens
	}
	if generates {
		output := intField(q.fields["max_tokens"])
		if s.output != nil {
			output = *s.output
		}
		fmt.Fprintf(w, `{"choices":[{"index":0,"finish_reason":"length","text":"x","message":{"content":"x"}}],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`, usage, output)
		return
	}
	data := make([]string, q.inputs)
	for i := range data {
		data[i] = fmt.Sprintf(`{"index":%d,"embedding":[1%s]}`, i, strings.Repeat(",0.5", max(1, s.dims)))
	}
	fmt.Fprintf(w, `{"data":[%s],"usage":{"prompt_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}}`, strings.Join(data, ","), usage, s.cached)
}

// measure counts the inputs and their tokens.
func (f *fake) measure(q *asked, chat bool) (usage int) {
	var inputs []json.RawMessage
	_ = json.Unmarshal(q.fields["input"], &inputs)
	if prompt, ok := q.fields["prompt"]; ok {
		inputs, usage = []json.RawMessage{prompt}, f.template
	}
	if chat {
		var ms []struct {
			Content json.RawMessage `json:"content"`
		}
		_ = json.Unmarshal(q.fields["messages"], &ms)
		inputs, usage = []json.RawMessage{ms[0].Content}, f.template
	}
	count := f.count
	if count == nil {
		count = countInput
	}
	for i, in := range inputs {
		n := count(in)
		if i == 0 {
			q.tokens = n
		}
		usage += n
	}
	q.inputs = len(inputs)
	return usage
}

func countInput(in json.RawMessage) int {
	var ids []int
	if json.Unmarshal(in, &ids) == nil {
		return len(ids)
	}
	return len(strings.Fields(textOf(in)))
}

func textOf(in json.RawMessage) string {
	var text string
	_ = json.Unmarshal(in, &text)
	return text
}

func intField(raw json.RawMessage) int {
	var n int
	_ = json.Unmarshal(raw, &n)
	return n
}

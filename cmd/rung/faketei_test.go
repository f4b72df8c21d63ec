package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// What text-embeddings-inference 1.9.3 takes, as it was captured with a model of 256
// tokens and without truncation.
const (
	teiLength  = 256
	teiBatch   = 32
	teiPermits = 16 // inputs at once
	teiInfo    = `{"model_id":"/models/minilm-onnx","model_sha":null,"model_dtype":"float32","served_model_name":"/models/minilm-onnx","model_type":{"embedding":{"pooling":"mean"}},` +
		`"max_concurrent_requests":%d,"max_input_length":%d,"max_batch_tokens":16384,"max_batch_requests":8,"max_client_batch_size":%d,"auto_truncate":false,"tokenization_workers":1,"version":"1.9.3","sha":null,"docker_label":null}`
)

// scriptedTEI answers as the captures of a real text-embeddings-inference do: its
// paths, headers, errors and limits. The vectors are no model's, and a token is a word.
type scriptedTEI struct {
	inputs, requests, refused atomic.Int64
}

// faketei is a program: faketei PORT. It is ready after a second, as a server that loads
// a model.
func faketei() {
	time.Sleep(time.Second)
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s := &scriptedTEI{}
	http.HandleFunc("GET /info", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, teiInfo, teiPermits, teiLength, teiBatch)
	})
	http.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("POST /tokenize", s.tokenize)
	http.HandleFunc("POST /embed", s.embed)
	http.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "# TYPE te_request_count counter\nte_request_count{method=\"batch\"} %d\n# TYPE te_request_failure counter\nte_request_failure{err=\"overloaded\"} %d\n# TYPE te_queue_size gauge\nte_queue_size %d\n",
			s.requests.Load(), s.refused.Load(), s.inputs.Load())
	})
	fmt.Println(http.Serve(ln, nil)) //nolint:gosec // loopback, for a test
}

// teiWord is a token of the scripted tokeniser: never one of the special ones.
func teiWord(word string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(word))
	return 1000 + int(h.Sum32()%29000)
}

func (s *scriptedTEI) tokenize(w http.ResponseWriter, r *http.Request) {
	body := struct {
		Inputs  string `json:"inputs"`
		Special *bool  `json:"add_special_tokens"`
	}{}
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		http.Error(w, "Failed to deserialize the JSON body into the target type", http.StatusUnprocessableEntity)
		return
	}
	var tokens []string
	add := func(id int, text string, special bool) {
		tokens = append(tokens, fmt.Sprintf(`{"id":%d,"text":%q,"special":%t,"start":null,"stop":null}`, id, text, special))
	}
	special := body.Special == nil || *body.Special
	if special {
		add(101, "[CLS]", true)
	}
	for word := range strings.FieldsSeq(body.Inputs) {
		add(teiWord(word), word, false)
	}
	if special {
		add(102, "[SEP]", true)
	}
	_, _ = fmt.Fprintf(w, "[[%s]]", strings.Join(tokens, ","))
}

func (s *scriptedTEI) embed(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	var body struct {
		Inputs []json.RawMessage `json:"inputs"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		http.Error(w, "Failed to deserialize the JSON body into the target type", http.StatusUnprocessableEntity)
		return
	}
	fail := func(status int, kind, format string, args ...any) {
		s.refused.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":%q,"error_type":%q}`, fmt.Sprintf(format, args...), kind)
	}
	n := int64(len(body.Inputs))
	if n == 0 {
		fail(http.StatusBadRequest, "Empty", "Input validation error: `inputs` cannot be empty")
		return
	}
	if n > teiBatch {
		fail(http.StatusUnprocessableEntity, "Validation", "batch size %d > maximum allowed batch size %d", n, teiBatch)
		return
	}
	defer s.inputs.Add(-n)
	if s.inputs.Add(n) > teiPermits { // a permit for each input, not for each request
		fail(http.StatusTooManyRequests, "Overloaded", "Model is overloaded")
		return
	}
	all, vectors := 0, make([]string, 0, n)
	for _, in := range body.Inputs {
		tokens := teiTokens(in)
		if all += tokens; tokens > teiLength {
			fail(http.StatusUnprocessableEntity, "Validation", "Input validation error: `inputs` must have less than %d tokens. Given: %d", teiLength, tokens)
			return
		}
		vectors = append(vectors, "[0.5,0.25,0.125]")
	}
	time.Sleep(2 * time.Millisecond * time.Duration(n))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Compute-Tokens", fmt.Sprint(all))
	w.Header().Set("X-Total-Time", fmt.Sprint(2*n))
	w.Header().Set("X-Queue-Time", "0")
	w.Header().Set("X-Tokenization-Time", "0")
	w.Header().Set("X-Inference-Time", fmt.Sprint(2*n))
	_, _ = fmt.Fprintf(w, "[%s]", strings.Join(vectors, ","))
}

// teiTokens counts ids as they are, and a text with its two special tokens.
func teiTokens(in json.RawMessage) int {
	var ids []int
	if json.Unmarshal(in, &ids) == nil {
		return len(ids)
	}
	var text string
	_ = json.Unmarshal(in, &text)
	return len(strings.Fields(text)) + 2
}

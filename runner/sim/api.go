package sim

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strings"
)

const (
	maxBody    = 256 << 20
	dimensions = 64
	vocabulary = 30000
)

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", s.embeddings)
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	mux.HandleFunc("POST /tokenize", s.tokenize)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
			"id": s.cfg.Model, "object": "model", "owned_by": "simulated", "max_model_len": s.cfg.Params.MaxInputTokens}}})
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"status": "ok", "server": "simulated"})
	})
	return s.counted(mux)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Server", "rung simulated")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that went away is its own affair
}

// failure is an answer that is no success, in the form that vLLM gives it.
type failure struct {
	status int
	text   string
}

func (f failure) Error() string { return f.text }

func bad(format string, args ...any) error {
	return failure{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// serve reads a body, works, answers and logs.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, work func(context.Context, []byte, *Entry) (any, error)) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	sum := sha256.Sum256(body)
	entry := Entry{Path: r.URL.Path, BodySHA256: hex.EncodeToString(sum[:]), Status: http.StatusOK}
	var out any
	if err == nil {
		out, err = work(r.Context(), body, &entry)
	}
	if err != nil {
		entry.Status, entry.Error = statusOf(err), err.Error()
		out = map[string]any{"error": map[string]any{
			"message": err.Error(), "type": http.StatusText(entry.Status), "param": nil, "code": entry.Status}}
	}
	if r.Context().Err() != nil || errors.Is(err, context.Canceled) {
		entry.Status = statusClientGone
	}
	s.log.add(entry)
	if entry.Status == statusClientGone {
		panic(http.ErrAbortHandler) // no answer: it would be taken for one of the model's
	}
	answer(w, entry.Status, out)
}

// statusClientGone stands in the log where a client left or the server closed
// before the answer; the figure is nginx's.
const statusClientGone = 499

func statusOf(err error) int {
	if f, ok := errors.AsType[failure](err); ok {
		return f.status
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusInternalServerError
}

func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) {
	s.serve(w, r, func(ctx context.Context, body []byte, entry *Entry) (any, error) {
		var req struct {
			Model string          `json:"model"`
			Input json.RawMessage `json:"input"`
		}
		if err := json.Unmarshal(body, &req); err != nil {
			return nil, bad("the body is no JSON: %v", err)
		}
		if err := s.checkModel(req.Model); err != nil {
			return nil, err
		}
		counts, err := s.inputs(req.Input)
		if err != nil {
			return nil, err
		}
		entry.Inputs, entry.InputTokens = len(counts), sum(counts)
		j := &job{inputs: len(counts), tokens: entry.InputTokens, digest: sha256.Sum256(body), done: make(chan error, 1)}
		if err := s.engine.embed(ctx, j); err != nil {
			return nil, err
		}
		data := make([]any, len(counts))
		for i := range data {
			data[i] = map[string]any{"index": i, "object": "embedding", "embedding": vector(j.digest, i)}
		}
		return map[string]any{"object": "list", "model": s.cfg.Model, "data": data,
			"usage": map[string]int{"prompt_tokens": entry.InputTokens, "total_tokens": entry.InputTokens}}, nil
	})
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	s.serve(w, r, func(ctx context.Context, body []byte, entry *Entry) (any, error) {
		var req struct {
			Model     string    `json:"model"`
			Messages  []message `json:"messages"`
			MaxTokens int       `json:"max_tokens"`
			Stream    bool      `json:"stream"`
		}
		if err := json.Unmarshal(body, &req); err != nil {
			return nil, bad("the body is no JSON: %v", err)
		}
		if err := s.checkModel(req.Model); err != nil {
			return nil, err
		}
		if req.Stream {
			return nil, bad("the simulated server does not stream")
		}
		if req.MaxTokens < 1 {
			return nil, bad("max_tokens must be 1 or more")
		}
		n := s.chatTokens(req.Messages)
		if err := s.checkLength(n + req.MaxTokens); err != nil {
			return nil, err
		}
		entry.Inputs, entry.InputTokens, entry.OutputTokens = 1, n, req.MaxTokens
		if err := s.engine.chat(ctx, &job{inputs: 1, tokens: n, digest: sha256.Sum256(body)}, req.MaxTokens); err != nil {
			return nil, err
		}
		return map[string]any{"object": "chat.completion", "model": s.cfg.Model,
			"choices": []any{map[string]any{"index": 0, "finish_reason": "length",
				"message": map[string]string{"role": "assistant", "content": strings.TrimSpace(strings.Repeat("simulated ", req.MaxTokens))}}},
			"usage": map[string]int{"prompt_tokens": n, "completion_tokens": req.MaxTokens, "total_tokens": n + req.MaxTokens}}, nil
	})
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// chatTemplate is what the template of the simulated model adds to each message.
const chatTemplate = 4

func (s *Server) chatTokens(ms []message) int {
	n := s.cfg.Params.SpecialTokens
	for _, m := range ms {
		n += chatTemplate + len(words(m.Content))
	}
	return n
}

func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Prompt   *string   `json:"prompt"`
		Special  *bool     `json:"add_special_tokens"`
		Messages []message `json:"messages"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&req); err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	if req.Prompt == nil {
		answer(w, http.StatusOK, map[string]any{"count": s.chatTokens(req.Messages), "max_model_len": s.cfg.Params.MaxInputTokens})
		return
	}
	ids := make([]int, 0, len(*req.Prompt)/4)
	for _, word := range words(*req.Prompt) {
		h := fnv.New32a()
		_, _ = io.WriteString(h, word)
		ids = append(ids, 1000+int(h.Sum32()%(vocabulary-1000)))
	}
	if req.Special == nil || *req.Special {
		ids = s.withSpecials(ids)
	}
	answer(w, http.StatusOK, map[string]any{"count": len(ids), "max_model_len": s.cfg.Params.MaxInputTokens, "tokens": ids})
}

// withSpecials puts half of the special tokens before the text, the rest behind.
func (s *Server) withSpecials(ids []int) []int {
	n := s.cfg.Params.SpecialTokens
	out := make([]int, 0, len(ids)+n)
	for i := range (n + 1) / 2 {
		out = append(out, i+1)
	}
	out = append(out, ids...)
	for i := range n / 2 {
		out = append(out, 100+i)
	}
	return out
}

func words(text string) []string { return strings.Fields(text) }

func (s *Server) checkModel(model string) error {
	if model != s.cfg.Model {
		return failure{http.StatusNotFound, fmt.Sprintf("The model `%s` does not exist.", model)}
	}
	return nil
}

func (s *Server) checkLength(n int) error {
	if limit := s.cfg.Params.MaxInputTokens; n > limit {
		return bad("This model's maximum context length is %d tokens. However, your prompt contains %d tokens.", limit, n)
	}
	return nil
}

// inputs counts the tokens of each input, in each form that the API has: a
// text, texts, ids, or lists of ids. Ids are taken as they are.
func (s *Server) inputs(raw json.RawMessage) ([]int, error) {
	var counts []int
	var texts []string
	var lists [][]int
	var one string
	var ids []int
	switch {
	case json.Unmarshal(raw, &lists) == nil && len(lists) > 0:
		for _, l := range lists {
			counts = append(counts, len(l))
		}
	case json.Unmarshal(raw, &texts) == nil:
		for _, t := range texts {
			counts = append(counts, len(words(t))+s.cfg.Params.SpecialTokens)
		}
	case json.Unmarshal(raw, &one) == nil:
		counts = []int{len(words(one)) + s.cfg.Params.SpecialTokens}
	case json.Unmarshal(raw, &ids) == nil:
		counts = []int{len(ids)}
	}
	if len(counts) == 0 {
		return nil, bad("input must be a text, texts, token ids or lists of token ids, and not empty")
	}
	for _, n := range counts {
		if n == 0 {
			return nil, bad("an input is empty")
		}
		if err := s.checkLength(n); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// vector is a small vector, never zero, that depends on the request alone.
func vector(digest [32]byte, i int) []float32 {
	v := make([]float32, dimensions)
	for d := range v {
		b := digest[(d+i)%len(digest)]
		v[d] = (float32(b)+1)/256 - 0.5
	}
	v[0] = 1 + float32(binary.BigEndian.Uint16(digest[:2]))/65536
	return v
}

func sum(v []int) int {
	n := 0
	for _, x := range v {
		n += x
	}
	return n
}

package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"rung/spec/plan"
)

const maxBody = 256 << 20

func (p *process) handler() http.Handler {
	s, mux := p.s, http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", p.infer(openAI, (*call).embeddings))
	mux.HandleFunc("POST /v1/chat/completions", p.infer(openAI, (*call).chat))
	mux.HandleFunc("POST /v1/completions", p.infer(openAI, (*call).completion))
	mux.HandleFunc("POST /embed", p.infer(tei, (*call).embed))
	mux.HandleFunc("POST /tokenize", s.tokenise)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
			"id": s.cfg.Model, "object": "model", "owned_by": "simulated", "max_model_len": s.longest()}}})
	})
	mux.HandleFunc("GET /info", func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, s.info()) })
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, map[string]string{"version": "1"})
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) { s.metrics(p.engine, w) })
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, map[string]string{"status": "ok", "server": "simulated"})
	})
	return mux
}

// info is what TEI says of itself.
func (s *Server) info() map[string]any {
	p := s.cfg.Params
	out := map[string]any{"model_id": s.cfg.Model, "served_model_name": s.cfg.Model, "version": "simulated",
		"max_input_length": s.longest(), "max_batch_requests": p.MaxBatch, "auto_truncate": true}
	if p.MaxClientBatch > 0 {
		out["max_client_batch_size"] = p.MaxClientBatch
	}
	if p.MaxQueue > 0 {
		out["max_concurrent_requests"] = p.MaxQueue
	}
	return out
}

// longest is the longest sequence that the model takes.
func (s *Server) longest() int {
	n := s.cfg.Params.MaxInputTokens
	if pool := poolTokens(s.cfg.Params); pool > 0 {
		n = min(n, pool)
	}
	return n
}

func write(w http.ResponseWriter, status int, v any) {
	writeBytes(w, status, "application/json", marshal(v))
}

// marshal writes JSON as the servers do, without escapes for HTML. Nothing that this
// server answers can't be written.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func writeBytes(w http.ResponseWriter, status int, kind string, b []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Server", serverName)
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that went away is its own affair
}

const serverName = "rung simulated"

// failure is an answer that is no success.
type failure struct {
	status int
	kind   string // as TEI names it
	text   string
	raw    bool // the text is the whole body
}

func (f failure) Error() string { return f.text }

func bad(format string, args ...any) error {
	return failure{status: http.StatusBadRequest, kind: "Validation", text: fmt.Sprintf(format, args...)}
}

func badInput(kind, text string) error {
	return failure{status: http.StatusBadRequest, kind: kind, text: text}
}

// overloaded is the answer to a request for which there is no room in the queue.
func (e *engine) overloaded() error {
	if e.p.QueueStatus == http.StatusServiceUnavailable {
		return failure{status: e.p.QueueStatus, kind: "Overloaded", text: "The engine is currently busy and cannot accept new requests. Please try again later or on a different instance."}
	}
	return failure{status: http.StatusTooManyRequests, kind: "Overloaded", text: "Model is overloaded"}
}

// send writes a body as it stands, as JSON where it looks so.
func (f failure) send(w http.ResponseWriter) {
	kind := "text/plain; charset=utf-8"
	if json.Valid([]byte(f.text)) {
		kind = "application/json"
	}
	writeBytes(w, f.status, kind, []byte(f.text))
}

// failureOf makes an answer of any error.
func failureOf(p plan.Simulator, err error) failure {
	if f, ok := errors.AsType[failure](err); ok {
		return f
	}
	if _, ok := errors.AsType[oomError](err); ok {
		status := http.StatusInternalServerError
		if p.OOMStatus > 0 {
			status = p.OOMStatus
		}
		return failure{status: status, kind: "Backend", text: err.Error()}
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return failure{status: http.StatusRequestEntityTooLarge, kind: "Validation", text: err.Error()}
	}
	return failure{status: http.StatusInternalServerError, kind: "Backend", text: err.Error()}
}

// form is how an API says that something failed.
type form int

const (
	openAI form = iota
	tei
)

// body is the failure as the API has it. TEI answers with statuses of its own on both
// of its APIs.
func (f failure) body(form form) (status int, body any) {
	switch {
	case form == tei && f.kind == "Backend":
		return http.StatusFailedDependency, map[string]any{"error": "Backend error: " + f.text, "error_type": f.kind}
	case form == tei && f.kind == "Validation" && f.status == http.StatusBadRequest:
		return http.StatusUnprocessableEntity, map[string]any{"error": f.text, "error_type": f.kind}
	case form == tei:
		return f.status, map[string]any{"error": f.text, "error_type": f.kind}
	case f.status == http.StatusFailedDependency:
		return f.status, map[string]any{"message": "Backend error: " + f.text, "code": f.status, "type": f.kind}
	default:
		return f.status, map[string]any{"error": map[string]any{
			"message": f.text, "type": http.StatusText(f.status), "param": nil, "code": f.status}}
	}
}

func (s *Server) checkModel(model string) error {
	if model != s.cfg.Model {
		return failure{status: http.StatusNotFound, kind: "Validation", text: fmt.Sprintf("The model `%s` does not exist.", model)}
	}
	return nil
}

func (s *Server) checkLength(n int) error {
	if limit := s.longest(); n > limit {
		return bad("This model's maximum context length is %d tokens. However, your prompt contains %d tokens.", limit, n)
	}
	return nil
}

// checkBatch refuses more inputs in a request than the server takes.
func (s *Server) checkBatch(n int) error {
	if limit := s.cfg.Params.MaxClientBatch; limit > 0 && n > limit {
		return failure{status: http.StatusUnprocessableEntity, kind: "Validation", text: fmt.Sprintf("batch size %d > maximum allowed batch size %d", n, limit)}
	}
	return nil
}

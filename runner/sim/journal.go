package sim

import (
	"encoding/json"
	"io"
	"sync"
)

// journal is the server's own log: what it received and what became of it.
type journal struct {
	mu  sync.Mutex
	enc *json.Encoder // nil: no log
}

// Entry is one line of the simulated server's log. Times are seconds since the
// server was first started, on its own clock.
type Entry struct {
	Server       string    `json:"server"` // always "simulated"
	Request      int       `json:"request"`
	Path         string    `json:"path"`
	BodySHA256   string    `json:"body_sha256"`
	Inputs       int       `json:"inputs"`
	InputTokens  int       `json:"input_tokens"`
	CachedTokens int       `json:"cached_tokens,omitempty"`
	OutputTokens int       `json:"output_tokens"`    // that were generated
	Status       int       `json:"status"`           // 0: the server broke the connection
	Fault        string    `json:"fault,omitempty"`  // that was put on it
	ReceivedS    float64   `json:"received_s"`       // its headers had come
	SentS        float64   `json:"sent_s,omitempty"` // the first token went out, or the whole answer
	ChunksS      []float64 `json:"chunks_s,omitempty"`
	DoneS        float64   `json:"done_s"`
	Error        string    `json:"error,omitempty"`
}

func newJournal(w io.Writer) *journal {
	if w == nil {
		return &journal{}
	}
	return &journal{enc: json.NewEncoder(w)}
}

func (j *journal) add(e Entry) {
	if j.enc == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	e.Server = "simulated"
	_ = j.enc.Encode(e) // a log that can't be written must not change what the server does
}

package sim

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"strings"
)

const vocabulary = 30000

// input is one text or list of ids that came.
type input struct {
	n    int // its tokens, special ones included
	text string
	ids  []int
}

func words(text string) []string { return strings.Fields(text) }

// wordIDs are the ids of a text, without special ones.
func wordIDs(text string) []int {
	ids := make([]int, 0, len(text)/4)
	for _, word := range words(text) {
		h := fnv.New32a()
		_, _ = io.WriteString(h, word)
		ids = append(ids, 1000+int(h.Sum32()%(vocabulary-1000)))
	}
	return ids
}

// tokens are the ids of an input as the model gets them.
func (s *Server) tokens(in input) []int {
	if in.ids != nil {
		return in.ids
	}
	return s.withSpecials(wordIDs(in.text))
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

// inputs reads a request's inputs in each form that the APIs have: a text, texts,
// ids, or lists of ids. Ids are taken as they are.
func (s *Server) inputs(raw json.RawMessage) ([]input, error) {
	var out []input
	var texts []string
	var lists [][]int
	var one string
	var ids []int
	text := func(t string) { out = append(out, input{n: len(words(t)) + s.cfg.Params.SpecialTokens, text: t}) }
	switch {
	case json.Unmarshal(raw, &lists) == nil && len(lists) > 0:
		for _, l := range lists {
			out = append(out, input{n: len(l), ids: l})
		}
	case json.Unmarshal(raw, &texts) == nil:
		for _, t := range texts {
			text(t)
		}
	case json.Unmarshal(raw, &one) == nil && string(raw) != "null":
		text(one)
	case json.Unmarshal(raw, &ids) == nil && len(ids) > 0:
		out = []input{{n: len(ids), ids: ids}}
	}
	if len(out) == 0 {
		return nil, badInput("Empty", "input must be a text, texts, token ids or lists of token ids, and not empty")
	}
	for _, in := range out {
		if in.n == 0 {
			return nil, badInput("Empty", "an input is empty")
		}
	}
	return out, nil
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// chatTemplate is what the template of the simulated model adds to each message.
const chatTemplate = 4

func (s *Server) chatInput(ms []message) input {
	ids := s.withSpecials(nil)
	for _, m := range ms {
		for i := range chatTemplate {
			ids = append(ids, 200+len(m.Role)*chatTemplate+i)
		}
		ids = append(ids, wordIDs(m.Content)...)
	}
	return input{n: len(ids), ids: ids}
}

// tokenise answers in the forms of vLLM and of TEI.
func (s *Server) tokenise(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Prompt   *string         `json:"prompt"`
		Inputs   json.RawMessage `json:"inputs"`
		Special  *bool           `json:"add_special_tokens"`
		Messages []message       `json:"messages"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&req); err != nil {
		write(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	special := req.Special == nil || *req.Special
	ids := s.chatInput(req.Messages).ids
	switch {
	case len(req.Inputs) > 0:
		s.tokeniseTEI(w, req.Inputs, special)
		return
	case req.Prompt != nil && special:
		ids = s.withSpecials(wordIDs(*req.Prompt))
	case req.Prompt != nil:
		ids = wordIDs(*req.Prompt)
	}
	ids = s.miscount(ids)
	page := map[string]any{"count": len(ids), "max_model_len": s.cfg.Params.MaxInputTokens, "token_strs": nil}
	if req.Prompt != nil {
		page["tokens"] = ids
	}
	write(w, http.StatusOK, page)
}

// tokeniseTEI answers with a list of tokens for each text.
func (s *Server) tokeniseTEI(w http.ResponseWriter, raw json.RawMessage, special bool) {
	var one string
	var texts []string
	if json.Unmarshal(raw, &one) == nil {
		texts = []string{one}
	} else if err := json.Unmarshal(raw, &texts); err != nil {
		write(w, http.StatusUnprocessableEntity, map[string]string{"error": err.Error(), "error_type": "Tokenizer"})
		return
	}
	type token struct {
		ID      int  `json:"id"`
		Special bool `json:"special"`
	}
	page := make([][]token, len(texts))
	for i, t := range texts {
		ids := wordIDs(t)
		if special {
			ids = s.withSpecials(ids)
		}
		for _, id := range s.miscount(ids) {
			page[i] = append(page[i], token{id, id < 1000})
		}
	}
	write(w, http.StatusOK, page)
}

// miscount is how a tokeniser that is not the model's would count.
func (s *Server) miscount(ids []int) []int {
	f := s.cfg.Params.TokeniseFactor
	if f == 0 || len(ids) == 0 {
		return ids
	}
	out := make([]int, int(math.Round(f*float64(len(ids)))))
	for i := range out {
		out[i] = ids[i%len(ids)]
	}
	return out
}

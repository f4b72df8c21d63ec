package target

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Dialect names a server's way of tokenising.
type Dialect string

// The dialects. NoDialect is a server that has no such endpoint.
const (
	NoDialect Dialect = ""
	VLLM      Dialect = "vllm /tokenize"
	LlamaCPP  Dialect = "llama.cpp /tokenize"
	TEI       Dialect = "tei /tokenize"
)

// FindDialect tries each way of tokenising once. A server can answer 200 to a
// body that it does not understand, with no tokens: that is not its way.
func (c *Client) FindDialect(ctx context.Context) (Dialect, error) {
	if c.program != nil {
		return NoDialect, nil
	}
	for _, d := range []Dialect{VLLM, LlamaCPP, TEI} {
		ids, err := c.Tokenise(ctx, d, "Hello world", false)
		if err == nil && len(ids) > 0 {
			return d, nil
		}
		if ctx.Err() != nil {
			return NoDialect, ctx.Err()
		}
	}
	return NoDialect, nil
}

// Tokenise gives the ids of a text, with the special tokens that the model puts
// around each input or without.
func (c *Client) Tokenise(ctx context.Context, d Dialect, text string, special bool) ([]int, error) {
	raw, err := json.Marshal(c.tokeniseBody(d, text, special))
	if err != nil {
		return nil, fmt.Errorf("tokenise: %w", err)
	}
	if d == TEI {
		return c.teiIDs(ctx, raw)
	}
	var page struct {
		Tokens []int `json:"tokens"`
	}
	if _, err := c.page(ctx, http.MethodPost, "/tokenize", raw, &page); err != nil {
		return nil, fmt.Errorf("tokenise: %w", err)
	}
	return page.Tokens, nil
}

func (c *Client) tokeniseBody(d Dialect, text string, special bool) map[string]any {
	switch d {
	case VLLM:
		return map[string]any{"model": c.model, "prompt": text, "add_special_tokens": special}
	case TEI:
		return map[string]any{"inputs": text, "add_special_tokens": special}
	case LlamaCPP, NoDialect:
	}
	return map[string]any{"content": text, "add_special": special}
}

// teiIDs reads TEI's answer, a list of tokens for each input.
func (c *Client) teiIDs(ctx context.Context, raw []byte) ([]int, error) {
	var page [][]struct {
		ID int `json:"id"`
	}
	if _, err := c.page(ctx, http.MethodPost, "/tokenize", raw, &page); err != nil {
		return nil, fmt.Errorf("tokenise: %w", err)
	}
	if len(page) != 1 {
		return nil, fmt.Errorf("tokenise: %d lists of tokens for one text", len(page))
	}
	ids := make([]int, len(page[0]))
	for i, t := range page[0] {
		ids[i] = t.ID
	}
	return ids, nil
}

// CountChat gives the tokens of a chat with one message, the template included,
// and whether the dialect can tell.
func (c *Client) CountChat(ctx context.Context, d Dialect, text string) (n int, ok bool, err error) {
	switch d {
	case VLLM:
		raw, err := json.Marshal(map[string]any{"model": c.model, "messages": []map[string]string{{"role": "user", "content": text}}})
		if err != nil {
			return 0, false, fmt.Errorf("tokenise: %w", err)
		}
		var page struct {
			Count int `json:"count"`
		}
		_, err = c.page(ctx, http.MethodPost, "/tokenize", raw, &page)
		return page.Count, page.Count > 0, err
	case LlamaCPP:
		raw, err := json.Marshal(map[string]any{"messages": []map[string]string{{"role": "user", "content": text}}})
		if err != nil {
			return 0, false, fmt.Errorf("tokenise: %w", err)
		}
		var page struct {
			Prompt string `json:"prompt"`
		}
		if _, err := c.page(ctx, http.MethodPost, "/apply-template", raw, &page); err != nil {
			return 0, false, nil //nolint:nilerr // without the endpoint the template is measured by usage
		}
		ids, err := c.Tokenise(ctx, d, page.Prompt, true)
		return len(ids), len(ids) > 0, err
	default:
		return 0, false, nil
	}
}

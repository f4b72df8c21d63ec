package target

// EmbeddingIDs is the body of one request for embeddings of lists of token ids,
// one list an input.
func (c *Client) EmbeddingIDs(inputs [][]int) ([]byte, error) {
	return c.merged(map[string]any{"model": c.model, "input": inputs})
}

// EmbeddingTexts is the body of one request for embeddings of texts.
func (c *Client) EmbeddingTexts(inputs []string) ([]byte, error) {
	return c.merged(map[string]any{"model": c.model, "input": inputs})
}

// ChatOptions are what a chat asks of the answer.
type ChatOptions struct {
	OutputTokens int
	Exact        bool // ignore_eos and min_tokens, where the server takes them
}

// Chat is the body of one chat with a single message, not streamed.
func (c *Client) Chat(text string, o ChatOptions) ([]byte, error) {
	fields := map[string]any{
		"model":       c.model,
		"messages":    []map[string]string{{"role": "user", "content": text}},
		"max_tokens":  o.OutputTokens,
		"temperature": 0,
		"stream":      false,
	}
	if o.Exact {
		fields["ignore_eos"] = true
		fields["min_tokens"] = o.OutputTokens
	}
	return c.merged(fields)
}

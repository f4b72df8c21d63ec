package target

import "rung/spec/plan"

// EmbedIDs is the body of one request for embeddings of lists of token ids, one
// list an input.
func (c *Client) EmbedIDs(inputs [][]int) ([]byte, error) { return c.embed(inputs) }

// EmbedTexts is the body of one request for embeddings of texts.
func (c *Client) EmbedTexts(inputs []string) ([]byte, error) { return c.embed(inputs) }

func (c *Client) embed(inputs any) ([]byte, error) {
	if c.api == plan.TEIEmbed {
		// Else it cuts what is too long, and says nothing of it.
		return c.merged(map[string]any{"inputs": inputs, "truncate": false})
	}
	return c.merged(map[string]any{"model": c.model, "input": inputs})
}

// Options are what a request asks of a generated answer.
type Options struct {
	OutputTokens int
	Exact        bool // ignore_eos and min_tokens, where the server takes them
	Temperature  float64
	Stream       bool
}

// Chat is the body of one chat with a single message.
func (c *Client) Chat(text string, o Options) ([]byte, error) {
	return c.generate(map[string]any{"messages": []map[string]string{{"role": "user", "content": text}}}, o)
}

// CompleteIDs is the body of one completion of token ids.
func (c *Client) CompleteIDs(ids []int, o Options) ([]byte, error) {
	return c.generate(map[string]any{"prompt": ids}, o)
}

// CompleteText is the body of one completion of a text.
func (c *Client) CompleteText(text string, o Options) ([]byte, error) {
	return c.generate(map[string]any{"prompt": text}, o)
}

func (c *Client) generate(fields map[string]any, o Options) ([]byte, error) {
	fields["model"] = c.model
	fields["max_tokens"] = o.OutputTokens
	fields["temperature"] = o.Temperature
	fields["stream"] = o.Stream
	if o.Stream { // without it a stream has no usage
		fields["stream_options"] = map[string]bool{"include_usage": true}
	}
	if o.Exact {
		fields["ignore_eos"] = true
		fields["min_tokens"] = o.OutputTokens
	}
	return c.merged(fields)
}

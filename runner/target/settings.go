package target

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"rung/sinks/record"
	"rung/spec/plan"
)

// maxSetting bounds the value of a setting, in bytes.
const maxSetting = 100

// infoSettings are those of a TEI's /info, by their own names.
//
//nolint:gochecknoglobals // a constant list; Go has no constant slices
var infoSettings = [...]string{"max_concurrent_requests", "max_input_length", "max_batch_tokens", "max_batch_requests", "max_client_batch_size", "auto_truncate", "tokenization_workers"}

// Settings are those in force that the server's pages tell: of TEI its /info, of
// llama.cpp its /props, of any other its list of models. software is what Discover found
// it to be. A page that is not there, or is another's, tells nothing.
func (c *Client) Settings(ctx context.Context, software string) []record.Setting {
	switch {
	case c.program != nil:
		return nil
	case software == string(plan.TEI):
		return c.infoSettings(ctx)
	case strings.HasPrefix(software, string(plan.LlamaCPP)):
		return c.propsSettings(ctx)
	default:
		return c.modelSettings(ctx)
	}
}

func (c *Client) infoSettings(ctx context.Context) (out []record.Setting) {
	const path = "/info"
	var page map[string]json.RawMessage
	if _, err := c.get(ctx, path, &page); err != nil {
		return nil
	}
	for _, name := range infoSettings {
		out = c.setting(out, name, page[name], path)
	}
	return out
}

func (c *Client) propsSettings(ctx context.Context) []record.Setting {
	const path = "/props"
	var page struct {
		Slots    json.RawMessage `json:"total_slots"`
		Defaults struct {
			Context json.RawMessage `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if _, err := c.get(ctx, path, &page); err != nil {
		return nil
	}
	return c.setting(c.setting(nil, "parallel", page.Slots, path), "ctx_slot", page.Defaults.Context, path)
}

// modelSettings are what vLLM, SGLang and Infinity say beside the model's name.
func (c *Client) modelSettings(ctx context.Context) []record.Setting {
	const path = "/v1/models"
	var page struct {
		Data []struct {
			ID     string          `json:"id"`
			Length json.RawMessage `json:"max_model_len"`
			Stats  struct {
				Batch json.RawMessage `json:"batch_size"`
			} `json:"stats"`
		} `json:"data"`
	}
	if _, err := c.get(ctx, path, &page); err != nil {
		return nil
	}
	for _, m := range page.Data {
		if m.ID == c.model {
			return c.setting(c.setting(nil, "max_model_len", m.Length, path), "batch_size", m.Stats.Batch, path)
		}
	}
	return nil
}

// setting adds one where the page has it, as a number, a word or a bool.
func (c *Client) setting(to []record.Setting, name string, raw json.RawMessage, source string) []record.Setting {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" || raw[0] == '{' || raw[0] == '[' {
		return to
	}
	return append(to, record.Setting{Name: name, InForce: c.said(bytes.Trim(raw, `"`), maxSetting), Source: source})
}

package render_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rung/results"
	"rung/results/render"
)

// Every report is as the schema says, to the last key.
func TestReportsMeetTheirSchema(t *testing.T) {
	text := written(t, func(w *strings.Builder) error { return render.Schema(w) })
	golden(t, "report.schema.json", text)
	var schema map[string]any
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		t.Fatal(err)
	}
	bad := analyse(tiny())
	bad.Ladders, bad.Notices = nil, nil
	for name, rep := range map[string]*results.Report{
		"tiny": analyse(tiny()), "open": analyse(open().Run()), "whole": analyse(whole()), "pool": analyse(pooled()), "config": configurable(), "bare": bad, "zero": {},
	} {
		var v any
		if err := json.Unmarshal([]byte(written(t, func(w *strings.Builder) error { return render.JSON(w, rep, render.Options{}) })), &v); err != nil {
			t.Fatal(err)
		}
		if why := meets(schema, schema, v, name); why != "" {
			t.Error(why)
		}
	}
	for _, wrong := range []string{`{}`, `{"version": "1"}`, `[]`} {
		var v any
		_ = json.Unmarshal([]byte(wrong), &v)
		if meets(schema, schema, v, "") == "" {
			t.Errorf("%s is taken for a report", wrong)
		}
	}
}

// meets says why a value is not as a schema says; "" where it is. It knows the words that
// the schema uses.
func meets(root, schema, v any, at string) string {
	s, ok := schema.(map[string]any)
	if !ok {
		return ""
	}
	if ref, ok := s["$ref"].(string); ok {
		def := root.(map[string]any)["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")]
		if def == nil {
			return at + ": no definition of " + ref
		}
		return meets(root, def, v, at)
	}
	for _, part := range list(s["allOf"]) {
		if why := meets(root, part, v, at); why != "" {
			return why
		}
	}
	if any := list(s["anyOf"]); len(any) > 0 {
		first := ""
		for _, part := range any {
			why := meets(root, part, v, at)
			if why == "" {
				return ""
			}
			if first == "" {
				first = why
			}
		}
		return first
	}
	if kind, ok := s["type"].(string); ok && !isOf(kind, v) {
		return fmt.Sprintf("%s: %T is no %s", at, v, kind)
	}
	for i, x := range list(v) {
		if why := meets(root, s["items"], x, fmt.Sprintf("%s[%d]", at, i)); why != "" {
			return why
		}
	}
	object, _ := v.(map[string]any)
	for _, name := range list(s["required"]) {
		if _, ok := object[name.(string)]; !ok {
			return fmt.Sprintf("%s: no %s", at, name)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for name, x := range object {
		p, known := properties[name]
		if !known {
			if s["additionalProperties"] == false {
				return fmt.Sprintf("%s: %s is not in the schema", at, name)
			}
			p = s["additionalProperties"]
		}
		if why := meets(root, p, x, at+"."+name); why != "" {
			return why
		}
	}
	return ""
}

func list(v any) []any {
	out, _ := v.([]any)
	return out
}

func isOf(kind string, v any) bool {
	switch x := v.(type) {
	case nil:
		return kind == "null"
	case string:
		return kind == "string"
	case bool:
		return kind == "boolean"
	case float64:
		return kind == "number" || kind == "integer" && x == float64(int64(x))
	case []any:
		return kind == "array"
	default:
		return kind == "object"
	}
}

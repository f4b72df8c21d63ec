package render

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"rung/results"
)

// Schema writes the JSON schema (draft 2020-12) of report.json.
func Schema(w io.Writer) error {
	s := schemas{defs: map[string]any{}}
	root := s.of(reflect.TypeFor[results.Report]())
	return printJSON(w, map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": fmt.Sprintf("A report of rung, version %d", results.Version),
		"allOf": []any{root}, "$defs": s.defs,
	})
}

// schemas collects the definitions of structs by their names.
type schemas struct{ defs map[string]any }

// of is the schema of a type as encoding/json writes it.
func (s schemas) of(t reflect.Type) any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage]():
		return true
	case t.Kind() != reflect.Pointer && t.Implements(reflect.TypeFor[json.Marshaler]()):
		return map[string]any{"type": "string"} // a duration
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": orNull(t.Elem(), s.of(t.Elem()))}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		return s.ref(t)
	default:
		return map[string]any{"type": "integer"}
	}
}

// orNull lets a value be null that may be nil.
func orNull(t reflect.Type, schema any) any {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return map[string]any{"anyOf": []any{schema, map[string]any{"type": "null"}}}
	default:
		return schema
	}
}

// ref names a struct's definition, and makes it where it is new.
func (s schemas) ref(t reflect.Type) any {
	name := strings.ReplaceAll(t.String(), "*", "")
	if _, ok := s.defs[name]; !ok {
		s.defs[name] = nil // it may hold itself
		properties, required := map[string]any{}, []string{}
		s.fields(t, properties, &required)
		s.defs[name] = map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	}
	return map[string]any{"$ref": "#/$defs/" + name}
}

// fields are a struct's, those of structs that are embedded in it included.
func (s schemas) fields(t reflect.Type, properties map[string]any, required *[]string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			s.fields(f.Type, properties, required)
		case !f.IsExported() || name == "-":
		case strings.Contains(options, "omitempty"):
			properties[name] = s.of(f.Type)
		default:
			properties[name] = orNull(f.Type, s.of(f.Type))
			*required = append(*required, name)
		}
	}
}

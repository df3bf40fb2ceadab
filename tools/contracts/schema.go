package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"choiros/internal/choir"
)

const schemaFolder = "docs/schema"

// schema is the part of JSON Schema 2020-12 that the vocabulary needs.
type schema struct {
	Schema      string       `json:"$schema,omitempty"`
	ID          string       `json:"$id,omitempty"`
	Ref         string       `json:"$ref,omitempty"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	Type        string       `json:"type,omitempty"`
	Enum        []string     `json:"enum,omitempty"`
	Pattern     string       `json:"pattern,omitempty"`
	Encoding    string       `json:"contentEncoding,omitempty"`
	MinLength   *float64     `json:"minLength,omitempty"`
	MaxLength   *float64     `json:"maxLength,omitempty"`
	Minimum     *float64     `json:"minimum,omitempty"`
	Maximum     *float64     `json:"maximum,omitempty"`
	MinItems    *float64     `json:"minItems,omitempty"`
	MaxItems    *float64     `json:"maxItems,omitempty"`
	Items       *schema      `json:"items,omitempty"`
	AnyOf       []schema     `json:"anyOf,omitempty"`
	Properties  *members     `json:"properties,omitempty"`
	Required    []string     `json:"required,omitempty"`
	Additional  *bool        `json:"additionalProperties,omitempty"`
	Defs        *members     `json:"$defs,omitempty"`
	Event       *eventSchema `json:"x-choir-event,omitempty"`
}

// eventSchema says about a payload what JSON Schema has no word for.
type eventSchema struct {
	Class       choir.Class  `json:"class"`
	RequiresRun bool         `json:"requires_run"`
	Roles       []choir.Role `json:"roles"`
}

// members is an object whose order is kept.
type members []struct {
	name  string
	value *schema
}

func (m *members) add(name string, s *schema) {
	*m = append(*m, struct {
		name  string
		value *schema
	}{name, s})
}

// MarshalJSON writes the members in their order.
func (m members) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, e := range m {
		raw, err := plainJSON(e.value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(choir.AppendCanonicalString(out, e.name), ':'), raw...)
	}
	return append(out, '}'), nil
}

// plainJSON leaves <, > and & as they are.
func plainJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return buf.Bytes(), err
}

func (v *vocabulary) schemas() ([]output, error) {
	payload := &schema{Title: "Payloads of events", Description: "Each event type has one payload; the key under $defs is the type.", Defs: &members{}}
	for _, info := range choir.Types() {
		s := v.object(reflect.TypeOf(info.Sample))
		s.Description = info.Doc + " " + s.Description
		s.Event = &eventSchema{info.Class, info.Run, info.Roles}
		payload.Defs.add(string(info.Type), s)
	}
	v.define(payload, payloads())
	verbs := &schema{Title: "Requests and replies of cmd", Description: "Each verb has a request and a reply; the reply travels inside Reply.", Defs: &members{}}
	for _, t := range structs(verbTypes()...) {
		verbs.Defs.add(t.Name(), v.object(t))
	}
	var out []output
	for _, f := range []struct {
		name string
		s    *schema
	}{
		{"director-task", v.root(choir.DirectorTask{})},
		{"associate-result", v.root(choir.AssociateResult{})},
		{"event", v.root(choir.Event{})},
		{"payloads", payload},
		{"verbs", verbs},
	} {
		f.s.Schema, f.s.ID = "https://json-schema.org/draft/2020-12/schema", f.name+".json"
		raw, err := plainJSON(f.s)
		if err != nil {
			return nil, err
		}
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, raw, "", "  "); err != nil {
			return nil, err
		}
		out = append(out, output{schemaFolder + "/" + f.name + ".json", pretty.Bytes()})
	}
	return out, nil
}

func (v *vocabulary) root(sample any) *schema {
	s := v.object(reflect.TypeOf(sample))
	s.Title = reflect.TypeOf(sample).Name()
	s.Defs = &members{}
	v.define(s, []any{sample})
	if len(*s.Defs) == 0 {
		s.Defs = nil
	}
	return s
}

// define adds every struct that the roots refer to.
func (v *vocabulary) define(s *schema, roots []any) {
	for _, t := range structs(roots...) {
		isRoot := slices.ContainsFunc(roots, func(r any) bool { return reflect.TypeOf(r) == t })
		if !isRoot {
			s.Defs.add(t.Name(), v.object(t))
		}
	}
}

func (v *vocabulary) object(t reflect.Type) *schema {
	closed := false
	s := &schema{Type: "object", Description: v.doc(t), Properties: &members{}, Additional: &closed}
	for _, f := range choir.Describe(t) {
		p := value(f.Type, f.Rules)
		if p.Type == "object" || p.Ref == "" {
			p.Description = f.Doc
		} else {
			p = &schema{Description: f.Doc, Ref: p.Ref}
		}
		if f.Required && f.Type.Kind() == reflect.Pointer {
			p = &schema{Description: f.Doc, AnyOf: []schema{{Ref: p.Ref, Type: p.Type}, {Type: "null"}}}
		}
		s.Properties.add(f.Name, p)
		if f.Required {
			s.Required = append(s.Required, f.Name)
		}
	}
	return s
}

const (
	uuidPattern   = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
	uuid7Pattern  = "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
	digestPattern = "^[0-9a-f]{64}$"
	timePattern   = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$`
)

var patterns = map[string]string{"id": uuidPattern, "id7": uuid7Pattern, "digest": digestPattern}

// value is the schema of a field without its description.
func value(t reflect.Type, r choir.RuleInfo) *schema {
	switch t {
	case reflect.TypeFor[choir.Time]():
		return &schema{Type: "string", Pattern: timePattern}
	case reflect.TypeFor[json.RawMessage]():
		return &schema{Type: "object"}
	case reflect.TypeFor[[]byte]():
		return &schema{Type: "string", Encoding: "base64"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return value(t.Elem(), r)
	case reflect.Struct:
		return &schema{Ref: "#/$defs/" + t.Name()}
	case reflect.Slice:
		s := &schema{Type: "array", Items: value(t.Elem(), choir.RuleInfo{Len: r.Each, Range: r.Range, Enum: r.Enum, Format: r.Format})}
		s.MinItems, s.MaxItems = bounds(r.Len)
		return s
	case reflect.String:
		s := &schema{Type: "string", Enum: r.Enum, Pattern: patterns[r.Format]}
		s.MinLength, s.MaxLength = bounds(r.Len)
		return s
	case reflect.Bool:
		return &schema{Type: "boolean"}
	}
	s := &schema{Type: "integer"}
	if t.Kind() == reflect.Float64 {
		s.Type = "number"
	}
	s.Minimum, s.Maximum = bounds(r.Range)
	return s
}

func bounds(b *choir.Bounds) (low, high *float64) {
	if b == nil {
		return nil, nil
	}
	if b.Min != 0 {
		low = &b.Min
	}
	return low, &b.Max
}

// typeName is a type in words, for people.
func typeName(t reflect.Type, r choir.RuleInfo) string {
	switch {
	case t == reflect.TypeFor[choir.Time]():
		return "time"
	case t == reflect.TypeFor[json.RawMessage]():
		return "object"
	case t == reflect.TypeFor[[]byte]():
		return "base64"
	case t.Kind() == reflect.Pointer:
		return typeName(t.Elem(), r)
	case t.Kind() == reflect.Struct:
		return fmt.Sprintf("[%s](#%s)", t.Name(), anchor(t.Name()))
	case t.Kind() == reflect.Slice:
		return "list of " + typeName(t.Elem(), choir.RuleInfo{Len: r.Each, Range: r.Range, Enum: r.Enum, Format: r.Format})
	case t.Kind() == reflect.Bool:
		return "bool"
	case t.Kind() == reflect.String:
		return stringName(r)
	case t.Kind() == reflect.Float64:
		return "number" + span(r.Range, "")
	}
	return "int" + span(r.Range, "")
}

package tools

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"choiros/internal/choir"
)

// decodeInput decodes the JSON input raw of a tool into in, which fresh makes. Numbers and
// booleans in quotes, lists and objects written as a text and null for an optional field are
// accepted, because models write them. The error, with code invalid, tells all mistakes at
// once and the field that an unknown one was probably meant to be.
func decodeInput(raw []byte, fresh func() input) (input, error) {
	in := fresh()
	mistakes := choir.DecodeStrictAll(raw, in)
	if len(mistakes) == 0 {
		return in, nil
	}
	if mended, ok := unquoted(raw, reflect.TypeOf(in).Elem()); ok {
		again := fresh()
		if mistakes = choir.DecodeStrictAll(mended, again); len(mistakes) == 0 {
			return again, nil
		}
	}
	var lines []string
	for _, m := range mistakes {
		lines = append(lines, meant(m, reflect.TypeOf(in).Elem()).Error())
	}
	return nil, &choir.Error{Code: choir.CodeOf(mistakes[0]), Msg: strings.Join(lines, "\n")}
}

// unquoted returns the JSON object raw with the members of the struct type t in the types
// of their fields, as far as they have others that can mean only one thing; ok is false if
// there is nothing to change.
func unquoted(raw []byte, t reflect.Type) (mended []byte, ok bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil, false
	}
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		value, given := members[name]
		if !given {
			continue
		}
		if string(value) == "null" && options == "omitempty" {
			delete(members, name)
			ok = true
		} else if better, changed := inType(value, t.Field(i).Type); changed {
			members[name], ok = better, true
		}
	}
	if !ok {
		return nil, false
	}
	mended, err := json.Marshal(members)
	return mended, err == nil
}

// inType returns a JSON value in the type t, and whether that changed it.
func inType(value json.RawMessage, t reflect.Type) (json.RawMessage, bool) {
	var text string
	if t.Kind() == reflect.String || json.Unmarshal(value, &text) != nil {
		return itemsInType(value, t)
	}
	switch t.Kind() {
	case reflect.Int:
		n, err := strconv.Atoi(strings.TrimSpace(text))
		return json.RawMessage(strconv.Itoa(n)), err == nil
	case reflect.Bool:
		b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(text)))
		return json.RawMessage(strconv.FormatBool(b)), err == nil
	case reflect.Slice, reflect.Struct:
		return json.RawMessage(text), json.Valid([]byte(text))
	}
	return nil, false
}

// itemsInType is inType for a list of structs, and for one struct in place of a list.
func itemsInType(value json.RawMessage, t reflect.Type) (json.RawMessage, bool) {
	if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Struct {
		return nil, false
	}
	if len(value) > 0 && value[0] == '{' {
		return json.RawMessage("[" + string(value) + "]"), true
	}
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		return nil, false
	}
	changed := false
	for i, item := range items {
		if better, ok := unquoted(item, t.Elem()); ok {
			items[i], changed = better, true
		}
	}
	list, err := json.Marshal(items)
	return list, changed && err == nil
}

// habits are names that other programs have for the fields of the tools.
var habits = map[string]string{
	"file_path": "path", "filename": "path", "file": "path", "filepath": "path", "folder": "path", "dir": "path", "directory": "path", "cwd": "path",
	"old_string": "old, in an item of edits,", "old_str": "old, in an item of edits,", "old_text": "old, in an item of edits,",
	"new_string": "new, in an item of edits,", "new_str": "new, in an item of edits,", "new_text": "new, in an item of edits,",
	"file_text": "content", "contents": "content", "text": "content", "cmd": "command", "script": "command",
	"query": "pattern", "regex": "pattern", "glob": "pattern", "include": "pattern",
	"start_line": "offset", "line_start": "offset", "end_line": "limit, a number of lines,", "head_limit": "limit", "max_results": "limit",
	"timeout": "timeout_s, in seconds,", "timeout_ms": "timeout_s, in seconds,", "context_lines": "context", "-C": "context",
}

// meant returns the error of an unknown field with the field of t that was probably meant, if
// other programs have it; else err.
func meant(err error, t reflect.Type) error {
	var e *choir.Error
	if !errors.As(err, &e) || !strings.HasPrefix(e.Msg, "is not a known field") {
		return err
	}
	words := habits[e.Path[strings.LastIndexByte(e.Path, '.')+1:]]
	if field, _, _ := strings.Cut(words, ","); field == "" || !hasField(t, field) {
		return err
	}
	return choir.Invalid(e.Path, "is not a known field; %s was probably meant", words)
}

// hasField reports whether a struct, or the items of a list in it, have a field.
func hasField(t reflect.Type, name string) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return true
		}
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct && hasField(f.Type.Elem(), name) {
			return true
		}
	}
	return false
}

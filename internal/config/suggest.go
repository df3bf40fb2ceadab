package config

import (
	"reflect"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/spelling"
)

// unknownKey returns the error for an unknown key, with the nearest known key and all keys of
// its table as the remedy.
func unknownKey(path []string) *choir.Error {
	e := choir.Invalid(strings.Join(path, "."), "is not a known key")
	if len(path) == 0 {
		return e
	}
	known := keysAt(path[:len(path)-1])
	if len(known) == 0 {
		return e
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.name
	}
	all := "the known keys there are " + strings.Join(names, ", ")
	if near := nearest(path[len(path)-1], known); near != "" {
		return e.WithRemedy("did you mean %s? %s", near, all)
	}
	return e.WithRemedy("%s", all)
}

// knownKey is a key of a table, with other words that people write for it.
type knownKey struct {
	name string
	also []string
}

// keysAt returns the keys of the table at path; nil if there is no table.
func keysAt(path []string) []knownKey {
	t := typeAt(path)
	if t != nil && t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	var keys []knownKey
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("toml"); name != "" && name != "-" {
			keys = append(keys, knownKey{name, strings.Fields(f.Tag.Get("also"))})
		}
	}
	return keys
}

// typeAt returns the type of the value at path; nil for an unknown key.
func typeAt(path []string) reflect.Type {
	t := reflect.TypeFor[Config]()
	for _, part := range path {
		if t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return nil
		}
		i := slices.IndexFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return f.Tag.Get("toml") == part })
		if i < 0 {
			return nil
		}
		t = t.Field(i).Type
	}
	return t
}

// wrongKind returns the error for a value of the wrong type at path; nil for an unknown key.
func wrongKind(path []string, line int) error {
	t := typeAt(path)
	if t == nil || len(path) == 0 {
		return nil
	}
	name := strings.Join(path, ".")
	table := func(what, head string) error {
		keys := keysAt(path)
		names := make([]string, len(keys))
		for i, k := range keys {
			names[i] = k.name
		}
		return choir.Invalid(name, "must be %s (line %d)", what, line).
			WithRemedy("write %s, and its keys in the lines below it, such as %s = ...; the known keys there are %s", head, names[0], strings.Join(names, ", "))
	}
	switch {
	case t.Kind() == reflect.Struct:
		return table("a table", "["+name+"]")
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return table("a list of tables", "[["+name+"]]")
	}
	return choir.Invalid(name, "must be %s (line %d)", kindWords(t), line)
}

// kindWords describes the values of a type for people.
func kindWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return `a text in quotes`
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list in brackets, each entry " + kindWords(t.Elem())
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "a whole number"
	}
	return "another kind of value"
}

// nearest returns the known key that is most similar to word; "" if none is similar.
func nearest(word string, known []knownKey) string {
	var forms []string
	names := map[string]string{}
	for _, k := range known {
		for _, form := range append([]string{k.name}, k.also...) {
			forms = append(forms, form)
			names[form] = k.name
		}
	}
	return names[spelling.Nearest(strings.ToLower(word), forms)]
}

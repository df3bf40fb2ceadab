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
	at := strings.Join(path, ".")
	if len(path) == 0 {
		return choir.RefuseField(at, choir.ReasonConfigUnknown)
	}
	known := keysAt(path[:len(path)-1])
	if len(known) == 0 {
		return choir.RefuseField(at, choir.ReasonConfigUnknown)
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.name
	}
	all := choir.TextOf("names", strings.Join(names, ", "))
	if near := nearest(path[len(path)-1], known); near != "" {
		return choir.RefuseField(at, choir.ReasonConfigUnknownNear, choir.TextOf("near", near), all)
	}
	return choir.RefuseField(at, choir.ReasonConfigUnknownKnown, all)
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
	at := choir.CountOf("line", line)
	table := func(reason choir.Reason) error {
		keys := keysAt(path)
		names := make([]string, len(keys))
		for i, k := range keys {
			names[i] = k.name
		}
		return choir.RefuseField(name, reason, at, choir.TextOf("key", name), choir.TextOf("first", names[0]), choir.TextOf("names", strings.Join(names, ", ")))
	}
	switch {
	case t.Kind() == reflect.Struct:
		return table(choir.ReasonConfigTable)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return table(choir.ReasonConfigTables)
	}
	return choir.RefuseField(name, wantedKind(t), at)
}

// wantedKind returns the reason to refuse a value that is not of a type.
func wantedKind(t reflect.Type) choir.Reason {
	switch t.Kind() {
	case reflect.String:
		return choir.ReasonConfigText
	case reflect.Bool:
		return choir.ReasonConfigBoolean
	case reflect.Float64:
		return choir.ReasonConfigNumber
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return choir.ReasonConfigTexts
		}
		return choir.ReasonConfigList
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return choir.ReasonConfigWholeNumber
	}
	return choir.ReasonConfigKind
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

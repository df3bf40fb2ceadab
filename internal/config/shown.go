package config

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/pelletier/go-toml/v2"
)

// Shown is one key with its value if a stranger may read it.
type Shown struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Given bool   `json:"given"` // the file sets it
}

// Values shown in place of a text that a stranger may not read.
const (
	withheldSet   = "(set, withheld)"
	withheldUnset = ""
)

// Shown returns every key for a report that strangers read. It withholds texts, except those
// of fields with the tag report:"shown"; numbers and booleans are shown.
func (c Config) Shown() []Shown {
	var out []Shown
	c.walk(func(key string, v reflect.Value, shown bool) {
		s := Shown{Key: key, Given: c.given[key], Value: withheldSet}
		switch {
		case v.IsZero() && (v.Kind() == reflect.String || v.Kind() == reflect.Slice):
			s.Value = withheldUnset
		case shown:
			s.Value = fmt.Sprint(v.Interface())
		case v.Kind() == reflect.Slice:
			s.Value = fmt.Sprintf("(%d set, withheld)", v.Len())
		}
		out = append(out, s)
	})
	return out
}

// Withheld returns the texts that Shown withholds, and the parts of addresses among them, so
// that a report can remove them wherever they occur.
func (c Config) Withheld() []string {
	var out []string
	c.walk(func(_ string, v reflect.Value, shown bool) {
		switch {
		case shown:
		case v.Kind() == reflect.String:
			out = append(out, partsOf(v.String())...)
		case v.Kind() == reflect.Slice:
			for i := range v.Len() {
				out = append(out, partsOf(fmt.Sprint(v.Index(i).Interface()))...)
			}
		}
	})
	return out
}

// walk calls visit for every key, for lists of tables table by table. shown reports whether
// strangers may read the value.
func (c Config) walk(visit func(key string, v reflect.Value, shown bool)) {
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		section := v.Type().Field(i)
		switch at := section.Tag.Get("toml"); {
		case !section.IsExported():
		case section.Type.Kind() == reflect.Slice:
			for n := range v.Field(i).Len() {
				walkTable(fmt.Sprintf("%s[%d]", at, n), v.Field(i).Index(n), visit)
			}
		default:
			walkTable(at, v.Field(i), visit)
		}
	}
}

// walkTable calls visit for every key of the table v, whose own key is at.
func walkTable(at string, v reflect.Value, visit func(key string, v reflect.Value, shown bool)) {
	for i := range v.NumField() {
		f, value := v.Type().Field(i), v.Field(i)
		name := f.Tag.Get("toml")
		if name == "-" {
			continue
		}
		key := at + "." + name
		switch value.Kind() {
		case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
			visit(key, value, true)
		case reflect.Slice:
			if value.Type().Elem().Kind() != reflect.Struct {
				visit(key, value, false)
				continue
			}
			for n := range value.Len() {
				walkTable(fmt.Sprintf("%s[%d]", key, n), value.Index(n), visit)
			}
		default:
			visit(key, value, f.Tag.Get("report") == "shown")
		}
	}
}

// partsOf returns a text and, if it is an address, its host, path, user, password and query.
func partsOf(text string) []string {
	out := []string{text}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return out
	}
	out = append(out, u.Hostname(), u.Path, u.RawQuery)
	if u.User != nil {
		password, _ := u.User.Password()
		out = append(out, u.User.Username(), password, u.User.String())
	}
	for _, values := range u.Query() {
		out = append(out, values...)
	}
	return out
}

// TextsOf returns the texts and keys in a TOML file, and the parts of addresses among them,
// even if choir refuses the file; nil if it is not TOML.
func TextsOf(path string) []string {
	raw, err := os.ReadFile(path)
	var tree any
	if err != nil || toml.NewDecoder(bytes.NewReader(raw)).Decode(&tree) != nil {
		return nil
	}
	return textsIn(tree)
}

// textsIn returns the keys and texts in a decoded TOML value, and the parts of addresses.
func textsIn(node any) (out []string) {
	switch n := node.(type) {
	case string:
		return partsOf(n)
	case map[string]any:
		for key, below := range n {
			out = append(append(out, key), textsIn(below)...)
		}
	case []any:
		for _, below := range n {
			out = append(out, textsIn(below)...)
		}
	}
	return out
}

// Keys returns the words of choir in a configuration: its keys, and the values that Shown
// shows. A report may contain them.
func (c Config) Keys() []string {
	var out []string
	for _, s := range c.Shown() {
		out = append(out, s.Value, filepath.Ext(s.Key)[1:])
	}
	v := reflect.TypeFor[Config]()
	for i := range v.NumField() {
		out = append(out, v.Field(i).Tag.Get("toml"))
	}
	slices.Sort(out)
	return slices.Compact(append(out, "provider", "price"))
}

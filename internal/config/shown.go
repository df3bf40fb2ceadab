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

// Shown is one key of a configuration as a stranger may read it.
type Shown struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Given bool   `json:"given"` // the file sets it
}

// How a value is shown that a stranger may not read.
const (
	withheldSet   = "(set, withheld)"
	withheldUnset = ""
)

// Shown lists every key for a stranger. Numbers and truth values are shown, and of
// texts those alone whose field has the tag report:"shown": what has no tag, also in a
// field that is new, is withheld.
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

// Withheld lists the texts that Shown does not show, and the parts of those that are
// addresses: none of them may come out by another way.
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

// walk visits every key; lists of tables are visited table by table.
func (c Config) walk(visit func(key string, v reflect.Value, shown bool)) {
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if section := v.Type().Field(i); section.IsExported() {
			walkTable(section.Tag.Get("toml"), v.Field(i), visit)
		}
	}
}

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

// partsOf returns a text, and of an address its host, user, password and query too.
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

// TextsOf lists the texts of a configuration file and the parts of those that are
// addresses, whether or not the file is one that choir takes. It lists none of a file
// that is no TOML.
func TextsOf(path string) []string {
	raw, err := os.ReadFile(path)
	var tree any
	if err != nil || toml.NewDecoder(bytes.NewReader(raw)).Decode(&tree) != nil {
		return nil
	}
	return textsIn(tree)
}

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

// Keys lists the words that a configuration is made of: its keys, and the values that
// Shown shows.
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

package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Setting is a key with its effective value.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from"` // "default", the file it came from, or NetworkFile
	Doc   string `json:"doc"`
}

// List returns every key with its effective value and its source: "default" or file.
func (c Config) List(file string) []Setting {
	var out []Setting
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		section := v.Type().Field(i)
		if !section.IsExported() {
			continue
		}
		if section.Type.Kind() != reflect.Struct { // a list of tables
			out = append(out, c.setting(section.Tag.Get("toml"), section, v.Field(i), file))
			continue
		}
		for j := range v.Field(i).NumField() {
			f := section.Type.Field(j)
			out = append(out, c.setting(section.Tag.Get("toml")+"."+f.Tag.Get("toml"), f, v.Field(i).Field(j), file))
		}
	}
	return out
}

// setting returns the setting of a key with its field and value.
func (c Config) setting(key string, f reflect.StructField, v reflect.Value, file string) Setting {
	s := Setting{Key: key, Value: formatValue(v), From: "default", Doc: f.Tag.Get("doc")}
	switch {
	case c.given[key]:
		s.From = file
	case c.chosen[key]:
		s.From = NetworkFile
	}
	return s
}

// formatValue returns the text of a value: tables as TOML writes them in one line, without the
// keys that are not set, and all else as fmt does.
func formatValue(v reflect.Value) string {
	if v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.Struct {
		return fmt.Sprint(v.Interface())
	}
	var tables []string
	for i := range v.Len() {
		tables = append(tables, formatTable(v.Index(i)))
	}
	return "[" + strings.Join(tables, ", ") + "]"
}

// formatTable returns the text of one table: its own where its type has a String, or its keys.
func formatTable(v reflect.Value) string {
	if own, ok := v.Interface().(fmt.Stringer); ok {
		return own.String()
	}
	var keys []string
	for i := range v.NumField() {
		f, value := v.Type().Field(i), v.Field(i)
		name := f.Tag.Get("toml")
		if name == "-" || value.IsZero() {
			continue
		}
		keys = append(keys, name+" = "+formatKey(value))
	}
	return "{" + strings.Join(keys, ", ") + "}"
}

// formatKey returns the text of the value of one key in a table: strings and lists of them as TOML
// writes them, and all else as fmt does.
func formatKey(v reflect.Value) string {
	switch {
	case v.Kind() == reflect.String:
		return strconv.Quote(v.String())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		var all []string
		for i := range v.Len() {
			all = append(all, strconv.Quote(v.Index(i).String()))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	return fmt.Sprint(v.Interface())
}

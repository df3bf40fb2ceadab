package config

import (
	"fmt"
	"reflect"
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
	s := Setting{Key: key, Value: fmt.Sprint(v.Interface()), From: "default", Doc: f.Tag.Get("doc")}
	switch {
	case c.given[key]:
		s.From = file
	case c.chosen[key]:
		s.From = NetworkFile
	}
	return s
}

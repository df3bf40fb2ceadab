package config

import (
	"fmt"
	"reflect"
)

// Setting is a key with its effective value.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from"` // "default" or the file it came from
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
		for j := range v.Field(i).NumField() {
			f := section.Type.Field(j)
			s := Setting{
				Key:   section.Tag.Get("toml") + "." + f.Tag.Get("toml"),
				Value: fmt.Sprint(v.Field(i).Field(j).Interface()),
				From:  "default",
				Doc:   f.Tag.Get("doc"),
			}
			if c.given[s.Key] {
				s.From = file
			}
			out = append(out, s)
		}
	}
	return out
}

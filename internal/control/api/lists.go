package api

import (
	"reflect"
	"strings"
)

// fillLists replaces nil slices by empty ones in v and in structs that it contains by
// value, so that no list of an answer is null, as the OpenAPI document says. It does not
// follow pointers or list elements, which others may share.
func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		if v.IsNil() && v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); (f.IsExported() || f.Anonymous) && !strings.Contains(f.Tag.Get("json"), ",omit") {
				fillLists(v.Field(i))
			}
		}
	}
}

// jsonName returns the name of a field in JSON.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

package api

import (
	"reflect"
	"strings"
)

// fillLists replaces each list that is nil by an empty one: in a struct, in the
// structs that it has by value, and in none behind a pointer or in a list, which
// others may hold too. So no list in an answer is null, as the document says.
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

// jsonName returns what a field is called in JSON.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

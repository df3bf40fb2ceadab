package choir

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
)

// maxInteger is the largest integer that every I-JSON implementation represents exactly.
const maxInteger = 1<<53 - 1

// Canonical returns the canonical JSON (RFC 8785, JCS) of a value. Structs of this
// package are encoded by their tags, with an empty list for a required nil slice; other
// types go through encoding/json. A number that a double cannot hold exactly is code
// invalid.
func Canonical(v any) ([]byte, error) {
	return AppendCanonical(make([]byte, 0, 512), v)
}

// AppendCanonical appends the canonical JSON of a value to out and returns the result,
// see Canonical.
func AppendCanonical(out []byte, v any) ([]byte, error) {
	return appendValue(out, reflect.ValueOf(v))
}

var marshalerType = reflect.TypeFor[json.Marshaler]()

func appendValue(out []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() {
		return append(out, "null"...), nil
	}
	switch t := v.Type(); {
	case t == timeType:
		return appendTime(out, Time(v.Int()))
	case t == rawType:
		return appendRaw(out, v.Bytes())
	case t == bytesType:
		return append(base64.StdEncoding.AppendEncode(append(out, '"'), v.Bytes()), '"'), nil
	case t.Implements(marshalerType):
		return appendMarshaled(out, v)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return append(out, "null"...), nil
		}
		return appendValue(out, v.Elem())
	case reflect.Struct:
		return appendStruct(out, v)
	case reflect.Slice:
		return appendList(out, v)
	case reflect.String:
		return AppendCanonicalString(out, v.String()), nil
	case reflect.Bool:
		if v.Bool() {
			return append(out, "true"...), nil
		}
		return append(out, "false"...), nil
	case reflect.Float32, reflect.Float64:
		return appendFloat(out, v.Float())
	}
	switch {
	case v.CanInt() && -maxInteger <= v.Int() && v.Int() <= maxInteger:
		return strconv.AppendInt(out, v.Int(), 10), nil
	case v.CanUint() && v.Uint() <= maxInteger:
		return strconv.AppendUint(out, v.Uint(), 10), nil
	case v.CanInt() || v.CanUint():
		return nil, Invalid("$", "%v is more than a double holds exactly", v)
	}
	return appendMarshaled(out, v)
}

func appendMarshaled(out []byte, v reflect.Value) ([]byte, error) {
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		return nil, Wrap("choir.canonical", CodeInvalid, err, "encode %s", v.Type())
	}
	return appendRaw(out, raw)
}

func appendRaw(out, raw []byte) ([]byte, error) {
	if len(raw) == 0 {
		return append(out, "null"...), nil
	}
	if canonicalEnd(raw, 0, 0) == len(raw) {
		return append(out, raw...), nil
	}
	raw, err := Canonicalize(raw)
	return append(out, raw...), err
}

func appendFloat(out []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, Invalid("$", "%v has no JSON", f)
	}
	return appendNumber(out, f), nil
}

func appendList(out []byte, v reflect.Value) ([]byte, error) {
	out = append(out, '[')
	for i := range v.Len() {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendValue(out, v.Index(i)); err != nil {
			return nil, Under(indexPath(i), err)
		}
	}
	return append(out, ']'), nil
}

func appendStruct(out []byte, v reflect.Value) ([]byte, error) {
	shape, err := shapeOf(v.Type())
	if err != nil {
		return appendMarshaled(out, v)
	}
	out = append(out, '{')
	open := len(out)
	for i := range shape.fields {
		f := &shape.fields[i]
		value := v.Field(f.at)
		if !f.required && isEmpty(value) {
			continue
		}
		if len(out) > open {
			out = append(out, ',')
		}
		out = append(AppendCanonicalString(out, f.name), ':')
		if out, err = appendValue(out, value); err != nil {
			return nil, Under(f.name, err)
		}
	}
	return append(out, '}'), nil
}

// isEmpty reports whether encoding/json's omitempty would omit v.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

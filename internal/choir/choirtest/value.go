// Package choirtest generates random values of the vocabulary for property
// tests: any payload, task, result, draft or chain of events that the strict
// decoder accepts, from the same tags it reads.
package choirtest

import (
	"bytes"
	"encoding/json"
	"reflect"

	"pgregory.net/rapid"

	"choiros/internal/choir"
)

// Value generates values of a struct type of package choir that DecodeStrict accepts.
func Value[T any]() *rapid.Generator[T] {
	return rapid.Custom(func(t *rapid.T) T {
		var v T
		fill(t, reflect.ValueOf(&v).Elem(), choir.RuleInfo{})
		return v
	})
}

// Payload generates payloads of one event type that DecodeStrict accepts, as pointers
// like those of choir.DecodePayload.
func Payload(info choir.TypeInfo) *rapid.Generator[choir.Payload] {
	return rapid.Custom(func(t *rapid.T) choir.Payload {
		p := info.New()
		fill(t, reflect.ValueOf(p).Elem(), choir.RuleInfo{})
		return p
	})
}

// ID generates UUIDv7s with times of this century.
func ID() *rapid.Generator[choir.ID] {
	return rapid.Custom(func(t *rapid.T) choir.ID {
		random := rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(t, "random")
		id, err := choir.NewID(Time().Draw(t, "at"), bytes.NewReader(random))
		if err != nil {
			t.Fatal(err)
		}
		return id
	})
}

// Digest generates the digests of random contents of 4 bytes.
func Digest() *rapid.Generator[choir.Digest] {
	return rapid.Custom(func(t *rapid.T) choir.Digest {
		return choir.DigestOf(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "content"))
	})
}

// Time generates times from 2000 to 2099.
func Time() *rapid.Generator[choir.Time] {
	return rapid.Custom(func(t *rapid.T) choir.Time {
		return choir.Time(rapid.Int64Range(946_684_800_000, 4_102_444_799_999).Draw(t, "ms"))
	})
}

func fill(t *rapid.T, v reflect.Value, r choir.RuleInfo) {
	switch v.Interface().(type) {
	case choir.Time:
		v.SetInt(int64(Time().Draw(t, "time")))
		return
	case json.RawMessage:
		v.SetBytes([]byte(`{}`))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), r)
	case reflect.Struct:
		fillStruct(t, v)
	case reflect.Slice:
		fillList(t, v, r)
	case reflect.String:
		v.SetString(text(t, r))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Float64:
		b := within(r.Range, 0, 1e9)
		v.SetFloat(rapid.Float64Range(b.Min, b.Max).Draw(t, "number"))
	default:
		fillWhole(t, v, r)
	}
}

func fillStruct(t *rapid.T, v reflect.Value) {
	if v.NumField() == 0 {
		rapid.Bool().Draw(t, "nothing") // rapid refuses values that nothing is drawn for
	}
	for _, f := range choir.Describe(v.Type()) {
		optional := !f.Required || f.Type.Kind() == reflect.Pointer
		if !optional || rapid.Bool().Draw(t, "with "+f.Name) {
			fill(t, v.Field(f.Index), f.Rules)
		}
	}
	mend(t, v.Addr().Interface())
}

func fillList(t *rapid.T, v reflect.Value, r choir.RuleInfo) {
	b := within(r.Len, 0, 3)
	n := rapid.IntRange(int(b.Min), int(min(b.Max, b.Min+3))).Draw(t, "items")
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	item := choir.RuleInfo{Len: r.Each, Range: r.Range, Enum: r.Enum, Format: r.Format}
	for i := range n {
		fill(t, v.Index(i), item)
	}
}

func fillWhole(t *rapid.T, v reflect.Value, r choir.RuleInfo) {
	b := within(r.Range, 0, 1<<31-1)
	n := rapid.Int64Range(int64(b.Min), int64(b.Max)).Draw(t, "whole")
	if v.CanUint() {
		v.SetUint(uint64(n))
		return
	}
	v.SetInt(n)
}

func text(t *rapid.T, r choir.RuleInfo) string {
	switch {
	case r.Format == "digest":
		return string(Digest().Draw(t, "digest"))
	case r.Format != "":
		return string(ID().Draw(t, "id"))
	case r.Enum != nil:
		return rapid.SampledFrom(r.Enum).Draw(t, "enum")
	}
	b := within(r.Len, 0, 40)
	return rapid.StringN(int(b.Min), int(min(b.Max, b.Min+40)), -1).Draw(t, "text")
}

func within(b *choir.Bounds, low, high float64) choir.Bounds {
	if b == nil {
		return choir.Bounds{Min: low, Max: high}
	}
	return *b
}

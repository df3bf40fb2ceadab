package choir

import (
	"encoding/base64"
	"math"
	"reflect"
)

// DecodeStrict decodes JSON into a pointer to a struct. An unknown, missing, duplicate or
// out-of-range field is an *Error with code invalid, or too_large for a length, and the
// path of the field, such as verify_profile.commands[0].argv; $ is the whole document.
// Fields decoded before an error keep their values. All strings of the struct share one
// copy of raw.
//
// A field is required unless its json tag has omitempty. The choir tag holds its rules:
// len=MIN..MAX (characters of a string, items of a list, bytes of base64), each=MIN..MAX
// (characters of each item), range=MIN..MAX, enum=a|b|c, id (a UUID), id7 (a UUIDv7),
// digest. For a list the last five apply to each item. Rules between fields are checked
// by the pointer's method Check() error.
//
// null is accepted for a required list that may be empty, because encoding/json writes a
// nil slice so. An empty optional list decodes as nil, an empty required one as an empty
// slice, so decoding the output of Canonical gives the same value.
func DecodeStrict(raw []byte, into any) error { return decodeStruct(raw, into, false) }

// DecodeDurable decodes JSON as DecodeStrict does, but ignores unknown fields. Use it for
// events of the log, to which a newer choir may have added optional fields.
func DecodeDurable(raw []byte, into any) error { return decodeStruct(raw, into, true) }

func decodeStruct(raw []byte, into any, lenient bool) error {
	s := scanner{src: raw, text: string(raw), lenient: lenient}
	s.space()
	if err := s.decode(reflect.ValueOf(into).Elem(), &rules{}, 0); err != nil {
		return err
	}
	return s.end()
}

func (s *scanner) decode(v reflect.Value, r *rules, depth int) error {
	switch v.Kind() {
	case reflect.Pointer:
		if s.literal("null") {
			v.SetZero()
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return s.decode(v.Elem(), r, depth)
	case reflect.Struct:
		return s.decodeStruct(v, depth)
	case reflect.Slice:
		switch v.Type() {
		case rawType:
			return s.decodeRaw(v, depth)
		case bytesType:
			return s.decodeBytes(v, r)
		}
		return s.decodeList(v, r, depth)
	case reflect.String:
		return s.decodeString(v, r)
	case reflect.Bool:
		truth := s.literal("true")
		if !truth && !s.literal("false") {
			return s.wrongType(ReasonFieldNoBoolean)
		}
		v.SetBool(truth)
		return nil
	}
	if v.Type() == timeType {
		return s.decodeTime(v)
	}
	return s.decodeNumber(v, r)
}

// wrongType returns an error for the reason, which names the wanted type. In English it
// names the type of the value found too.
// If no value can be parsed it returns the syntax error.
func (s *scanner) wrongType(reason Reason) error {
	found := *s
	n, err := found.tree(0)
	if err != nil {
		return err
	}
	names := [...]string{"null", "a boolean", "a boolean", "a number", "a string", "a list", "an object"}
	e := RefuseField("$", reason)
	e.Msg += ", not " + names[n.kind]
	return e
}

func (s *scanner) decodeString(v reflect.Value, r *rules) error {
	if s.peek() != '"' {
		return s.wrongType(ReasonFieldNoText)
	}
	start := s.pos + 1
	raw, err := s.str()
	if err != nil {
		return err
	}
	// Without escapes the value is a part of the one copy made of the input.
	text := s.text[start : s.pos-1]
	if len(raw) != len(text) {
		text = string(raw)
	}
	v.SetString(text)
	return r.text(text)
}

func (s *scanner) decodeTime(v reflect.Value) error {
	if s.peek() != '"' {
		return s.wrongType(ReasonFieldNoTime)
	}
	text, err := s.str()
	if err != nil {
		return err
	}
	t, err := ParseTime(string(text))
	if err != nil {
		return err
	}
	v.SetInt(int64(t))
	return nil
}

// decodeRaw stores the next value of any type in v as canonical JSON.
func (s *scanner) decodeRaw(v reflect.Value, depth int) error {
	start := s.pos
	if end := canonicalEnd(s.src, start, depth); end > 0 {
		s.pos = end
		v.SetBytes(append([]byte(nil), s.src[start:end]...))
		return nil
	}
	n, err := s.tree(depth)
	if err != nil {
		return err
	}
	v.SetBytes(n.appendCanonical(nil))
	return nil
}

// decodeBytes decodes the next value, a base64 string, into v. The length rule of r
// counts the decoded bytes.
func (s *scanner) decodeBytes(v reflect.Value, r *rules) error {
	if r.null && s.literal("null") {
		v.SetBytes([]byte{})
		return nil
	}
	if s.peek() != '"' {
		return s.wrongType(ReasonFieldNoBase64)
	}
	text, err := s.str()
	if err != nil {
		return err
	}
	b := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Strict().Decode(b, text)
	if err != nil || base64.StdEncoding.EncodedLen(n) != len(text) {
		return RefuseField("$", ReasonFieldBase64)
	}
	v.SetBytes(b[:n])
	return length(r.len, n, ReasonFieldFewBytes, ReasonFieldManyBytes)
}

func (s *scanner) decodeNumber(v reflect.Value, r *rules) error {
	if c := s.peek(); c != '-' && c-'0' > 9 {
		return s.wrongType(ReasonFieldNoNumber)
	}
	start := s.pos
	f, err := s.double()
	if err != nil {
		return err
	}
	whole := v.Kind() != reflect.Float64
	switch {
	case whole && (f != math.Trunc(f) || math.Abs(f) > maxInteger):
		return RefuseField("$", ReasonFieldWholeNumber, TextOf("given", clip(s.text[start:s.pos])))
	case !r.num.holds(f):
		return RefuseField("$", ReasonFieldRange, TextOf("least", written(r.num.min)), TextOf("most", written(r.num.max)), TextOf("given", clip(s.text[start:s.pos])))
	case v.CanInt() && v.OverflowInt(int64(f)), v.CanUint() && (f < 0 || v.OverflowUint(uint64(f))):
		return RefuseField("$", ReasonFieldOutOfRange, TextOf("given", clip(s.text[start:s.pos])))
	case v.CanInt():
		v.SetInt(int64(f))
	case v.CanUint():
		v.SetUint(uint64(f))
	case f == 0:
		v.SetFloat(0) // not -0, which canonical JSON cannot say
	default:
		v.SetFloat(f)
	}
	return nil
}

func (s *scanner) decodeList(v reflect.Value, r *rules, depth int) error {
	if r.null && s.literal("null") {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return nil
	}
	if s.peek() != '[' {
		return s.wrongType(ReasonFieldNoList)
	}
	if err := s.open(depth); err != nil {
		return err
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	var found mistakes
	for i := 0; ; i++ {
		more, err := s.next(']', i == 0)
		if err != nil {
			return err
		}
		if !more {
			return found.with(length(r.len, i, ReasonFieldFew, ReasonFieldMany))
		}
		if r.len != nil && float64(i) >= r.len.max {
			return length(r.len, i+1, ReasonFieldFew, ReasonFieldMany)
		}
		if i == v.Cap() {
			v.Grow(1)
		}
		v.SetLen(i + 1)
		start := s.pos
		if err := s.decode(v.Index(i), r.item, depth+1); err != nil {
			if err = s.goOn(&found, indexPath(i), err, start, depth); err != nil {
				return err
			}
		}
	}
}

func (s *scanner) decodeStruct(v reflect.Value, depth int) error {
	if s.peek() != '{' {
		return s.wrongType(ReasonFieldNoObject)
	}
	shape, err := shapeOf(v.Type())
	if err != nil {
		return err
	}
	if err := s.open(depth); err != nil {
		return err
	}
	var seen uint64 // one bit for each field
	var found mistakes
	at := -1
	for first := true; ; first = false {
		more, err := s.next('}', first)
		if err != nil {
			return err
		}
		if !more && s.thorough {
			return s.completeAll(shape, v, seen, found)
		}
		if !more {
			return shape.complete(v, seen)
		}
		member, err := s.decodeMember(v, shape, at+1, depth, &found)
		if err != nil {
			return err
		}
		if member == unknown {
			continue
		}
		if at = member; seen&(1<<at) != 0 {
			return RefuseField(shape.fields[at].name, ReasonFieldTwice)
		}
		seen |= 1 << at
	}
}

// unknown is the index that decodeMember returns for a member without a field.
const unknown = -1

// decodeMember decodes one member into its field of v and returns the index of the field,
// or unknown if the scanner is lenient or thorough and there is none. In canonical JSON
// the index is at least from. A thorough scanner adds mistakes to found.
func (s *scanner) decodeMember(v reflect.Value, shape *shape, from, depth int, found *mistakes) (int, error) {
	name, err := s.name()
	if err != nil {
		return 0, err
	}
	at, ok := shape.find(name, from)
	if !ok && s.lenient {
		_, err := s.tree(depth + 1)
		return unknown, err
	}
	if !ok && s.thorough {
		return unknown, s.goOn(found, "", shape.unknownField(string(name)), s.pos, depth)
	}
	if !ok {
		return 0, RefuseField(pathOf(string(name)), ReasonFieldUnknown)
	}
	f := &shape.fields[at]
	into, start := v.Field(f.at), s.pos
	if err := s.decode(into, f.rules, depth+1); err != nil {
		if err = s.goOn(found, f.name, err, start, depth); err != nil {
			return 0, err
		}
	}
	if !f.required && into.Kind() == reflect.Slice && into.Len() == 0 {
		into.SetZero()
	}
	return at, nil
}

// complete returns an error if a required field is missing or v's Check fails. Bit i of
// seen is set if field i was decoded.
func (sh *shape) complete(v reflect.Value, seen uint64) error {
	for i := range sh.fields {
		if f := &sh.fields[i]; f.required && seen&(1<<i) == 0 {
			return RefuseField(f.name, ReasonFieldRequired)
		}
	}
	if sh.check {
		return v.Addr().Interface().(checker).Check()
	}
	return nil
}

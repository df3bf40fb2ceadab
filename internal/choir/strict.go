package choir

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// checker is a payload with rules that lie between its fields.
type checker interface{ Check() error }

// DecodeStrict decodes JSON into a pointer to a struct and refuses unknown,
// missing, duplicate and out-of-range fields. A refusal is an *Error with code
// invalid and the path of the field, such as verify_profile.commands[0].argv.
//
// A field is required unless its json tag says omitempty. The choir tag holds
// its rules: len=MIN..MAX (characters of a string, items of a list), each=MIN..MAX
// (characters of each item), range=MIN..MAX, enum=a|b|c, id, digest.
func DecodeStrict(raw []byte, into any) error {
	n, err := parseJSON(raw)
	if err != nil {
		return err
	}
	return decodeNode(&n, reflect.ValueOf(into).Elem(), rules{})
}

// rules are what a choir tag says.
type rules struct {
	len, each, num *span
	enum           []string
	id, digest     bool
}

type span struct{ min, max float64 }

func (s *span) holds(v float64) bool { return s == nil || v >= s.min && v <= s.max }

func (s *span) String() string {
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return f(s.min) + " to " + f(s.max)
}

// parseRules reads a choir tag; a tag that does not parse is a defect found by
// the package's tests, which call it for every type.
func parseRules(tag string) (rules, error) {
	var r rules
	if tag == "" {
		return r, nil
	}
	for _, part := range strings.Split(tag, ",") {
		key, value, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "len":
			r.len, err = parseSpan(value)
		case "each":
			r.each, err = parseSpan(value)
		case "range":
			r.num, err = parseSpan(value)
		case "enum":
			r.enum = strings.Split(value, "|")
		case "id":
			r.id = true
		case "digest":
			r.digest = true
		default:
			return r, Invalid(key, "is not a rule")
		}
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

func parseSpan(s string) (*span, error) {
	low, high, _ := strings.Cut(s, "..")
	a, err := strconv.ParseFloat(low, 64)
	if err != nil {
		return nil, Invalid(s, "is not a span")
	}
	b, err := strconv.ParseFloat(high, 64)
	if err != nil {
		return nil, Invalid(s, "is not a span")
	}
	return &span{a, b}, nil
}

var (
	timeType = reflect.TypeOf(Time(0))
	rawType  = reflect.TypeOf(json.RawMessage(nil))
	byteType = reflect.TypeOf([]byte(nil))
)

func decodeNode(n *node, v reflect.Value, r rules) error {
	switch {
	case v.Type() == timeType:
		return decodeTime(n, v)
	case v.Type() == rawType:
		raw, err := appendCanonical(nil, n)
		v.SetBytes(raw)
		return err
	case v.Type() == byteType:
		return decodeBytes(n, v, r)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if n.kind == nodeNull {
			v.SetZero()
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return decodeNode(n, v.Elem(), r)
	case reflect.Struct:
		return decodeStruct(n, v)
	case reflect.Slice:
		return decodeList(n, v, r)
	case reflect.String:
		if n.kind != nodeString {
			return wrongType("a string", n)
		}
		v.SetString(n.text)
		return r.text(n.text)
	case reflect.Bool:
		if n.kind != nodeBool {
			return wrongType("a boolean", n)
		}
		v.SetBool(n.boolean)
		return nil
	}
	return decodeNumber(n, v, r)
}

func wrongType(want string, n *node) error { return Invalid("$", "must be %s, not %s", want, n.kind) }

func decodeTime(n *node, v reflect.Value) error {
	if n.kind != nodeString {
		return wrongType("a time", n)
	}
	t, err := ParseTime(n.text)
	if err != nil {
		return Invalid("$", "%v", err)
	}
	v.SetInt(int64(t))
	return nil
}

// decodeBytes reads base64; the length rule counts the bytes.
func decodeBytes(n *node, v reflect.Value, r rules) error {
	if n.kind != nodeString {
		return wrongType("base64", n)
	}
	b, err := base64.StdEncoding.Strict().DecodeString(n.text)
	if err != nil {
		return Invalid("$", "must be base64 with padding")
	}
	v.SetBytes(b)
	return length(r.len, len(b), "bytes")
}

func decodeNumber(n *node, v reflect.Value, r rules) error {
	if n.kind != nodeNumber {
		return wrongType("a number", n)
	}
	f, err := n.float()
	if err != nil {
		return Invalid("$", "%s is out of range", n.text)
	}
	whole := v.Kind() != reflect.Float64
	if whole && (f != math.Trunc(f) || math.Abs(f) > 1<<53-1 || v.CanUint() && f < 0) {
		return Invalid("$", "must be a whole number, not %s", n.text)
	}
	if !r.num.holds(f) {
		return Invalid("$", "must be %s, not %s", r.num, n.text)
	}
	switch {
	case v.CanInt():
		if v.OverflowInt(int64(f)) {
			return Invalid("$", "%s is out of range", n.text)
		}
		v.SetInt(int64(f))
	case v.CanUint():
		if v.OverflowUint(uint64(f)) {
			return Invalid("$", "%s is out of range", n.text)
		}
		v.SetUint(uint64(f))
	default:
		v.SetFloat(f)
	}
	return nil
}

// text holds a string against the rules.
func (r rules) text(s string) error {
	switch {
	case r.id && !ID(s).Valid():
		return Invalid("$", "must be a UUID in lower case, not %q", clip(s))
	case r.digest && !Digest(s).Valid():
		return Invalid("$", "must be a SHA-256 in lower-case hexadecimal, not %q", clip(s))
	case len(r.enum) > 0 && !contains(r.enum, s):
		return Invalid("$", "must be one of %s, not %q", strings.Join(r.enum, ", "), clip(s))
	}
	return length(r.len, utf8.RuneCountInString(s), "characters")
}

func length(s *span, n int, unit string) error {
	if s.holds(float64(n)) {
		return nil
	}
	e := Invalid("$", "must have %s %s, not %d", s, unit, n)
	if float64(n) > s.max {
		e.Code = CodeTooLarge
	}
	return e
}

func clip(s string) string {
	if len(s) <= 80 {
		return s
	}
	return cut(s, 80) + "..."
}

// cut keeps at most n bytes of s, and whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

func decodeList(n *node, v reflect.Value, r rules) error {
	if n.kind == nodeNull && r.len == nil {
		v.SetZero()
		return nil
	}
	if n.kind != nodeArray {
		return wrongType("a list", n)
	}
	if err := length(r.len, len(n.items), "items"); err != nil {
		return err
	}
	item := rules{len: r.each, num: r.num, enum: r.enum, id: r.id, digest: r.digest}
	v.Set(reflect.MakeSlice(v.Type(), len(n.items), len(n.items)))
	for i := range n.items {
		if err := decodeNode(&n.items[i], v.Index(i), item); err != nil {
			return Under("["+strconv.Itoa(i)+"]", err)
		}
	}
	return nil
}

func decodeStruct(n *node, v reflect.Value) error {
	if n.kind != nodeObject {
		return wrongType("an object", n)
	}
	shape, err := shapeOf(v.Type())
	if err != nil {
		return err
	}
	seen := make([]bool, len(shape.fields))
	for i := range n.members {
		m := &n.members[i]
		at, ok := shape.index[m.name]
		if !ok {
			return Invalid(m.name, "is not a known field")
		}
		f := &shape.fields[at]
		seen[at] = true
		if err := decodeNode(&m.value, v.Field(f.at), f.rules); err != nil {
			return Under(m.name, err)
		}
	}
	for i := range shape.fields {
		if f := &shape.fields[i]; f.required && !seen[i] {
			return Invalid(f.name, "is required")
		}
	}
	if c, ok := v.Addr().Interface().(checker); ok {
		return c.Check()
	}
	return nil
}

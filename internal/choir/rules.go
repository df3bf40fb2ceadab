package choir

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// rules is the parsed choir tag of one field.
type rules struct {
	len, num        *span
	enum            []string
	id, id7, digest bool
	item            *rules // of a list's items
	null            bool   // null stands for the empty list
}

type span struct{ min, max float64 }

func (s *span) holds(v float64) bool { return s == nil || v >= s.min && v <= s.max }

func (s *span) String() string {
	if s.min == s.max {
		return written(s.min)
	}
	return written(s.min) + " to " + written(s.max)
}

// written returns a bound of a span in digits.
func written(bound float64) string { return strconv.FormatFloat(bound, 'f', -1, 64) }

// parseRules parses a choir tag. An unknown rule or a malformed value is an error, which
// only a wrong tag in this package's source can cause.
func parseRules(tag string) (*rules, error) {
	r := &rules{}
	var each *span
	for _, part := range strings.FieldsFunc(tag, func(c rune) bool { return c == ',' }) {
		key, value, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "len":
			r.len, err = parseSpan(value)
		case "each":
			each, err = parseSpan(value)
		case "range":
			r.num, err = parseSpan(value)
		case "enum":
			r.enum = strings.Split(value, "|")
		case "id":
			r.id = true
		case "id7":
			r.id7 = true
		case "digest":
			r.digest = true
		default:
			err = Invalid(key, "is not a rule")
		}
		if err != nil {
			return nil, err
		}
	}
	r.item = &rules{len: each, num: r.num, enum: r.enum, id: r.id, id7: r.id7, digest: r.digest}
	return r, nil
}

func parseSpan(s string) (*span, error) {
	low, high, _ := strings.Cut(s, "..")
	a, err := strconv.ParseFloat(low, 64)
	if err != nil {
		return nil, Invalid(s, "is not a span")
	}
	b, err := strconv.ParseFloat(high, 64)
	if err != nil || a > b {
		return nil, Invalid(s, "is not a span")
	}
	return &span{a, b}, nil
}

// text returns an error if the string s breaks a rule on ids, digests, enumerated values
// or length.
func (r *rules) text(s string) error {
	switch {
	case r.id && !ID(s).Valid():
		return RefuseField("$", ReasonFieldUUID, TextOf("given", clip(s)))
	case r.id7 && !ID(s).ValidV7():
		return RefuseField("$", ReasonFieldUUID7, TextOf("given", clip(s)))
	case r.digest && !Digest(s).Valid():
		return RefuseField("$", ReasonFieldDigest, TextOf("given", clip(s)))
	case r.enum != nil && !contains(r.enum, s):
		return RefuseField("$", ReasonFieldOneOf, TextOf("names", strings.Join(r.enum, ", ")), TextOf("given", clip(s)))
	case r.len == nil || float64(len(s)) <= r.len.max && r.len.min <= 0:
		return nil
	}
	return length(r.len, utf8.RuneCountInString(s), ReasonFieldShort, ReasonFieldLong)
}

// length returns an error with the reason below or above unless the span holds n.
func length(s *span, n int, below, above Reason) error {
	if s.holds(float64(n)) {
		return nil
	}
	reason := below
	if float64(n) > s.max {
		reason = above
	}
	return RefuseField("$", reason, TextOf("least", written(s.min)), TextOf("most", written(s.max)), TextOf("n", n))
}

// clip shortens a value to about 80 bytes for an error message.
func clip(s string) string {
	if len(s) <= 80 {
		return s
	}
	return truncate(s, 80) + "..."
}

// truncate returns s shortened to at most n bytes, without a partial character at its end.
func truncate(s string, n int) string {
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

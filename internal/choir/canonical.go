package choir

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Canonicalize converts JSON to canonical JSON (RFC 8785, JCS). It returns a copy. Input
// that is not I-JSON (a duplicate name, a lone surrogate, a number outside a double) is
// code invalid.
func Canonicalize(raw []byte) ([]byte, error) {
	if canonicalEnd(raw, 0, 0) == len(raw) {
		return bytes.Clone(raw), nil
	}
	return canonicalizeAt(raw, 0)
}

// canonicalizeAt returns the canonical JSON of a value that is nested depth levels deep
// in a document. The depth counts against maxDepth.
func canonicalizeAt(raw []byte, depth int) ([]byte, error) {
	s := scanner{src: raw}
	s.space()
	n, err := s.tree(depth)
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return nil, err
	}
	return n.appendCanonical(make([]byte, 0, len(raw))), nil
}

func (n *node) appendCanonical(out []byte) []byte {
	switch n.kind {
	case nodeNull:
		return append(out, "null"...)
	case nodeTrue:
		return append(out, "true"...)
	case nodeFalse:
		return append(out, "false"...)
	case nodeString:
		return AppendCanonicalString(out, n.text)
	case nodeNumber:
		return appendNumber(out, n.number)
	case nodeArray:
		out = append(out, '[')
		for i := range n.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = n.items[i].appendCanonical(out)
		}
		return append(out, ']')
	}
	slices.SortFunc(n.members, func(a, b member) int { return compareUTF16(a.name, b.name) })
	out = append(out, '{')
	for i := range n.members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(AppendCanonicalString(out, n.members[i].name), ':')
		out = n.members[i].value.appendCanonical(out)
	}
	return append(out, '}')
}

// compareUTF16 compares two names by their UTF-16 code units (RFC 8785, 3.2.3), as
// strings.Compare does by bytes. The two orders differ only for characters above the
// basic plane.
func compareUTF16(a, b string) int {
	for a != "" && b != "" {
		ra, na := utf8.DecodeRuneInString(a)
		rb, nb := utf8.DecodeRuneInString(b)
		if ra != rb {
			return slices.Compare(utf16.Encode([]rune{ra}), utf16.Encode([]rune{rb}))
		}
		a, b = a[na:], b[nb:]
	}
	return len(a) - len(b)
}

// AppendCanonicalString appends s to out as a canonical JSON string (RFC 8785, 3.2.2.2)
// and returns the result. Bytes that are not UTF-8 become U+FFFD, as in encoding/json.
func AppendCanonicalString(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	out = append(out, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		out = append(out, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\b':
			out = append(out, '\\', 'b')
		case '\t':
			out = append(out, '\\', 't')
		case '\n':
			out = append(out, '\\', 'n')
		case '\f':
			out = append(out, '\\', 'f')
		case '\r':
			out = append(out, '\\', 'r')
		default:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(out, s[start:]...), '"')
}

// appendNumber appends a finite double to out in the form of ECMAScript's
// Number::toString (RFC 8785, 3.2.2.3) and returns the result.
func appendNumber(out []byte, f float64) []byte {
	if f == 0 {
		return append(out, '0')
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(out, f, 'f', -1, 64)
	}
	out = strconv.AppendFloat(out, f, 'e', -1, 64)
	// Go writes e-07, ECMAScript e-7.
	if n := len(out); out[n-2] == '0' && (out[n-3] == '-' || out[n-3] == '+') {
		out[n-2] = out[n-1]
		out = out[:n-1]
	}
	return out
}

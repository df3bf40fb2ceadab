package choir

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// canonicalEnd returns the offset behind the canonical JSON value that begins at pos, or
// -1 if the value is not canonical. It makes one pass and allocates nothing. A few rare
// canonical forms (member names with escapes or beyond ASCII) give -1 too; callers then
// parse the value with scanner.tree.
func canonicalEnd(src []byte, pos, depth int) int {
	if pos >= len(src) || depth > maxDepth {
		return -1
	}
	switch c := src[pos]; {
	case c == '"':
		return canonicalString(src, pos)
	case c == '{' && depth < maxDepth:
		return canonicalObject(src, pos, depth)
	case c == '[' && depth < maxDepth:
		return canonicalArray(src, pos, depth)
	case c == '-' || c-'0' <= 9:
		return canonicalNumber(src, pos)
	}
	s := scanner{src: src, pos: pos}
	if s.literal("null") || s.literal("true") || s.literal("false") {
		return s.pos
	}
	return -1
}

func canonicalArray(src []byte, pos, depth int) int {
	if pos+1 < len(src) && src[pos+1] == ']' {
		return pos + 2
	}
	for {
		pos = canonicalEnd(src, pos+1, depth+1)
		if pos < 0 || pos >= len(src) {
			return -1
		}
		switch src[pos] {
		case ',':
		case ']':
			return pos + 1
		default:
			return -1
		}
	}
}

func canonicalObject(src []byte, pos, depth int) int {
	if pos+1 < len(src) && src[pos+1] == '}' {
		return pos + 2
	}
	var last []byte
	for first := true; ; first = false {
		end := plainString(src, pos+1)
		if end < 0 || end >= len(src) || src[end] != ':' {
			return -1
		}
		name := src[pos+2 : end-1]
		if !first && bytes.Compare(last, name) >= 0 {
			return -1
		}
		last = name
		pos = canonicalEnd(src, end+1, depth+1)
		if pos < 0 || pos >= len(src) {
			return -1
		}
		switch src[pos] {
		case ',':
		case '}':
			return pos + 1
		default:
			return -1
		}
	}
}

// plainString returns the offset behind the quoted string at pos if the string is ASCII
// without escapes, else -1.
func plainString(src []byte, pos int) int {
	if pos >= len(src) || src[pos] != '"' {
		return -1
	}
	for pos++; pos < len(src); pos++ {
		if c := src[pos]; !plainText[c] {
			if c == '"' {
				return pos + 1
			}
			return -1
		}
	}
	return -1
}

// plainText has true for each byte that a JSON string may contain unescaped and that is a
// whole character: ASCII without control characters, quote and backslash.
var plainText = func() (t [256]bool) {
	for c := 0x20; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

func canonicalString(src []byte, pos int) int {
	ascii, start := true, pos
	for pos++; pos < len(src); pos++ {
		if plainText[src[pos]] {
			continue
		}
		switch c := src[pos]; {
		case c == '"':
			if !ascii && !utf8.Valid(src[start:pos]) {
				return -1
			}
			return pos + 1
		case c < 0x20:
			return -1
		case c >= 0x80:
			ascii = false
		case c == '\\':
			if pos = canonicalEscape(src, pos); pos < 0 {
				return -1
			}
		}
	}
	return -1
}

// canonicalEscape returns the offset of the last byte of the escape sequence at pos, or
// -1 if canonical JSON would not write it so.
func canonicalEscape(src []byte, pos int) int {
	if pos+1 >= len(src) {
		return -1
	}
	switch src[pos+1] {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return pos + 1
	case 'u':
		s := scanner{src: src, pos: pos + 2}
		r, ok := s.hex4()
		if !ok || r >= 0x20 {
			return -1
		}
		var buf [8]byte
		if want := AppendCanonicalString(buf[:0], string(r)); string(want[1:len(want)-1]) == string(src[pos:s.pos]) {
			return s.pos - 1
		}
	}
	return -1
}

func canonicalNumber(src []byte, pos int) int {
	s := scanner{src: src, pos: pos}
	text, err := s.number()
	if err != nil {
		return -1
	}
	if len(text) < 16 && isDigits(text) {
		return s.pos
	}
	f, err := strconv.ParseFloat(string(text), 64)
	var buf [32]byte
	if err != nil || string(appendNumber(buf[:0], f)) != string(text) {
		return -1
	}
	return s.pos
}

func isDigits(text []byte) bool {
	for _, c := range text {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}

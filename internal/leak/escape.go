package leak

import "strings"

// longestEscape is the length in bytes of the longest escape of one character that is read.
const longestEscape = 10

// unescape reads the escape of one byte at the beginning of b: %XX, \uXXXX, \xXX, a backslash before
// punctuation or for a line break, &name; and &#number;. It returns the byte and the length of the
// escape; n is 0 if there is none, and then more reports whether b is the beginning of one.
func unescape(b []byte) (c byte, n int, more bool) {
	switch b[0] {
	case '%':
		return hexEscape(b, 1, 2)
	case '\\':
		return backslash(b)
	case '&':
		return entity(b)
	}
	return 0, 0, false
}

// hexEscape reads an escape that ends in a fixed number of hexadecimal digits, from an offset on. It is
// none if their value is more than a byte's.
func hexEscape(b []byte, from, digits int) (c byte, n int, more bool) {
	value := 0
	for i := range digits {
		if from+i >= len(b) {
			return 0, 0, true
		}
		d := hexDigit(b[from+i])
		if d < 0 {
			return 0, 0, false
		}
		if value = value<<4 | d; value > 0xff {
			return 0, 0, false
		}
	}
	return byte(value), from + digits, false
}

// hexDigit returns the value of a hexadecimal digit; -1 for another character.
func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// backslash reads an escape of JSON, JavaScript, C or Python.
func backslash(b []byte) (c byte, n int, more bool) {
	if len(b) == 1 {
		return 0, 0, true
	}
	switch b[1] {
	case 'u':
		return hexEscape(b, 2, 4)
	case 'x':
		return hexEscape(b, 2, 2)
	case 'n', 'r':
		return '\n', 2, false
	}
	if strings.IndexByte(backslashed, b[1]) >= 0 {
		return b[1], 2, false
	}
	return 0, 0, false
}

// backslashed are the characters that a backslash before them leaves as they are.
const backslashed = "/\\\"'`"

// entities are the names of HTML for bytes that a secret can have.
var entities = map[string]byte{
	"excl": '!', "quot": '"', "QUOT": '"', "num": '#', "dollar": '$', "percnt": '%', "amp": '&', "AMP": '&', "apos": '\'', "lpar": '(', "rpar": ')',
	"ast": '*', "midast": '*', "plus": '+', "comma": ',', "period": '.', "sol": '/', "colon": ':', "semi": ';', "lt": '<', "LT": '<', "equals": '=',
	"gt": '>', "GT": '>', "quest": '?', "commat": '@', "lsqb": '[', "lbrack": '[', "bsol": '\\', "rsqb": ']', "rbrack": ']', "Hat": '^', "lowbar": '_',
	"UnderBar": '_', "grave": '`', "lcub": '{', "lbrace": '{', "verbar": '|', "vert": '|', "rcub": '}', "rbrace": '}', "NewLine": '\n',
}

// entity reads an entity of HTML.
func entity(b []byte) (c byte, n int, more bool) {
	for n = 1; n < len(b) && n < longestEscape && isWord(b[n]); n++ {
	}
	name := string(b[1:n])
	switch {
	case n == len(b) && n < longestEscape:
		return 0, 0, isEntityBegun(name)
	case n == len(b) || b[n] != ';':
		return 0, 0, false
	}
	if digits, ok := strings.CutPrefix(name, "#"); ok {
		value := numberOf(digits)
		if value < 0 {
			return 0, 0, false
		}
		return byte(value), n + 1, false
	}
	if c, ok := entities[name]; ok {
		return c, n + 1, false
	}
	return 0, 0, false
}

// isWord reports whether a character stands between & and ; of an entity.
func isWord(c byte) bool {
	return c == '#' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// numberOf returns the value of the digits of an entity, hexadecimal behind an x; -1 for what is no byte of ASCII.
func numberOf(digits string) int {
	base := 10
	if digits != "" && (digits[0] == 'x' || digits[0] == 'X') {
		base, digits = 16, digits[1:]
	}
	if digits == "" {
		return -1
	}
	value := 0
	for _, c := range []byte(digits) {
		d := hexDigit(c)
		if d < 0 || d >= base {
			return -1
		}
		if value = value*base + d; value > 0x7f {
			return -1
		}
	}
	return value
}

// isEntityBegun reports whether an entity can begin with a text.
func isEntityBegun(text string) bool {
	if digits, ok := strings.CutPrefix(text, "#"); ok {
		return digits == "" || strings.EqualFold(digits, "x") || numberOf(digits) >= 0
	}
	for name := range entities {
		if strings.HasPrefix(name, text) {
			return true
		}
	}
	return false
}

// canBecome reports whether the beginning of an escape can go on to an escape of c.
func canBecome(begun []byte, c byte) bool {
	switch begun[0] {
	case '%':
		return isHexBegun(begun[1:], []byte{c})
	case '\\':
		return len(begun) == 1 || begun[1] == 'u' && isHexBegun(begun[2:], []byte{0, c}) || begun[1] == 'x' && isHexBegun(begun[2:], []byte{c})
	}
	text := string(begun[1:])
	if digits, ok := strings.CutPrefix(text, "#"); ok {
		return c < 0x80 && isNumberBegun(digits, int(c))
	}
	for name, of := range entities {
		if of == c && strings.HasPrefix(name, text) {
			return true
		}
	}
	return text == "" && c < 0x80
}

// isHexBegun reports whether the hexadecimal digits of some bytes can begin with digits.
func isHexBegun(digits, of []byte) bool {
	for i, d := range digits {
		if want := int(of[i/2]>>(4*(1-i%2))) & 15; hexDigit(d) != want {
			return false
		}
	}
	return true
}

// isNumberBegun reports whether the number of an entity can begin with digits.
func isNumberBegun(digits string, want int) bool {
	if digits == "" || strings.EqualFold(digits, "x") {
		return true
	}
	base := 10
	if digits[0] == 'x' || digits[0] == 'X' {
		base = 16
	}
	for value := numberOf(digits); want > 0 || value == 0; want /= base {
		if want == value || value == 0 {
			return true
		}
	}
	return false
}

package choir

import (
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is the limit on the nesting of decoded JSON.
const maxDepth = 64

// scanner reads I-JSON (RFC 7493) token by token. It refuses strings that are not UTF-8
// or have lone surrogates.
type scanner struct {
	src  []byte
	text string // the same as src, for DecodeStrict
	pos  int
	// lenient passes over members that a struct does not have.
	lenient bool
	// thorough goes on after a mistake, see DecodeStrictAll.
	thorough bool
}

func (s *scanner) fail(msg string) error {
	return RefuseField("$", ReasonFieldNotJSON, CountOf("at", s.pos), TextOf("why", msg))
}

func (s *scanner) space() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte without consuming it; 0 at the end of the input.
func (s *scanner) peek() byte {
	if s.pos < len(s.src) {
		return s.src[s.pos]
	}
	return 0
}

// end returns an error if anything but white space follows.
func (s *scanner) end() error {
	if s.space(); s.pos != len(s.src) {
		return s.fail("there is something after the value")
	}
	return nil
}

// literal consumes word, such as null, if it comes next, and reports whether it did.
func (s *scanner) literal(word string) bool {
	if end := s.pos + len(word); end <= len(s.src) && string(s.src[s.pos:end]) == word {
		s.pos = end
		return true
	}
	return false
}

// noValue returns the error for a position at which no JSON value begins.
func (s *scanner) noValue() error {
	if s.pos >= len(s.src) {
		return s.fail("it ends too early")
	}
	return s.fail("no value begins here")
}

// open consumes the opening bracket of a list or an object at a nesting depth, and the
// white space after it. It returns an error at maxDepth.
func (s *scanner) open(depth int) error {
	if depth >= maxDepth {
		return s.fail("it is nested more than 64 deep")
	}
	s.pos++
	s.space()
	return nil
}

// next advances to the next item of a list or an object and reports whether there is one;
// if not, it consumes the closing bracket. first is true before the first item.
func (s *scanner) next(closing byte, first bool) (bool, error) {
	s.space()
	if s.peek() == closing {
		s.pos++
		return false, nil
	}
	if first {
		return true, nil
	}
	if s.peek() != ',' {
		return false, s.fail("a comma or a closing bracket is missing")
	}
	s.pos++
	s.space()
	return true, nil
}

// name consumes a member's name and colon and returns the name. The bytes may alias src.
func (s *scanner) name() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.fail("a member's name is missing")
	}
	name, err := s.str()
	if err != nil {
		return nil, err
	}
	if s.space(); s.peek() != ':' {
		return nil, s.fail("a colon is missing")
	}
	s.pos++
	s.space()
	return name, nil
}

func (s *scanner) digits() bool {
	from := s.pos
	for s.pos < len(s.src) && s.src[s.pos]-'0' <= 9 {
		s.pos++
	}
	return s.pos > from
}

// number consumes a JSON number and returns its text, which aliases src.
func (s *scanner) number() ([]byte, error) {
	start := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	first := s.pos
	ok := s.digits() && (s.src[first] != '0' || s.pos-first == 1)
	if ok && s.peek() == '.' {
		s.pos++
		ok = s.digits()
	}
	if ok && s.peek()|0x20 == 'e' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		ok = s.digits()
	}
	if !ok {
		return nil, s.fail("this is not a number")
	}
	return s.src[start:s.pos], nil
}

// str consumes a string and returns its unescaped bytes, which alias src if the string
// has no escapes.
func (s *scanner) str() ([]byte, error) {
	s.pos++
	start := s.pos
	for s.pos < len(s.src) && plainText[s.src[s.pos]] {
		s.pos++
	}
	out := s.src[start:s.pos:s.pos]
	if s.peek() == '"' {
		s.pos++
		return out, nil // ASCII without escapes, as most are
	}
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '"':
			s.pos++
			if !utf8.Valid(out) {
				return nil, s.fail("the string is not UTF-8")
			}
			return out, nil
		case c < 0x20:
			return nil, s.fail("a control character in a string must be escaped")
		case c != '\\':
			out = append(out, c)
			s.pos++
		default:
			var err error
			if out, err = s.escape(out); err != nil {
				return nil, err
			}
		}
	}
	return nil, s.fail("the string does not end")
}

const escapes = `"\/bfnrt`

func (s *scanner) escape(out []byte) ([]byte, error) {
	s.pos++
	c := s.peek()
	s.pos++
	if c != 'u' {
		for i := 0; i < len(escapes); i++ {
			if escapes[i] == c {
				return append(out, "\"\\/\b\f\n\r\t"[i]), nil
			}
		}
		return nil, s.fail("this escape does not exist")
	}
	r, ok := s.hex4()
	if !ok {
		return nil, s.fail(`\u needs four hexadecimal digits`)
	}
	if utf16.IsSurrogate(r) {
		if !s.literal(`\u`) {
			return nil, s.fail("a surrogate stands alone")
		}
		low, ok := s.hex4()
		if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
			return nil, s.fail("a surrogate stands alone")
		}
	}
	return utf8.AppendRune(out, r), nil
}

func (s *scanner) hex4() (rune, bool) {
	if s.pos+4 > len(s.src) {
		return 0, false
	}
	var r rune
	for _, c := range s.src[s.pos : s.pos+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	s.pos += 4
	return r, true
}

package choir

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of any JSON that is taken in.
const maxDepth = 64

type nodeKind uint8

const (
	nodeNull nodeKind = iota
	nodeBool
	nodeNumber
	nodeString
	nodeArray
	nodeObject
)

func (k nodeKind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a list", "an object"}[k]
}

// node is one parsed JSON value. Object members keep the order of the input.
type node struct {
	kind    nodeKind
	boolean bool
	text    string // string value, or the literal of a number
	items   []node
	members []member
}

type member struct {
	name  string
	value node
}

// parseJSON reads one JSON value as I-JSON (RFC 7493): UTF-8 without lone
// surrogates, no duplicate names, nothing after the value.
func parseJSON(src []byte) (node, error) {
	p := jsonParser{src: src}
	p.space()
	n, err := p.value(0)
	if err != nil {
		return node{}, err
	}
	p.space()
	if p.pos != len(src) {
		return node{}, p.fail("there is something after the value")
	}
	return n, nil
}

type jsonParser struct {
	src []byte
	pos int
}

func (p *jsonParser) fail(msg string) error {
	return Invalid("$", "is not JSON at byte %d: %s", p.pos, msg)
}

func (p *jsonParser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *jsonParser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *jsonParser) value(depth int) (node, error) {
	if depth > maxDepth {
		return node{}, p.fail("it is nested more than 64 deep")
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, err := p.str()
		return node{kind: nodeString, text: s}, err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	for _, lit := range []struct {
		word string
		n    node
	}{{"null", node{}}, {"true", node{kind: nodeBool, boolean: true}}, {"false", node{kind: nodeBool}}} {
		if p.pos+len(lit.word) <= len(p.src) && string(p.src[p.pos:p.pos+len(lit.word)]) == lit.word {
			p.pos += len(lit.word)
			return lit.n, nil
		}
	}
	if p.pos >= len(p.src) {
		return node{}, p.fail("it ends too early")
	}
	return node{}, p.fail("no value begins here")
}

func (p *jsonParser) object(depth int) (node, error) {
	n := node{kind: nodeObject}
	var seen map[string]bool
	p.pos++
	for p.space(); p.peek() != '}'; p.space() {
		if len(n.members) > 0 {
			if p.peek() != ',' {
				return n, p.fail("a comma or a closing brace is missing")
			}
			p.pos++
			p.space()
		}
		if p.peek() != '"' {
			return n, p.fail("a member's name is missing")
		}
		name, err := p.str()
		if err != nil {
			return n, err
		}
		if n.has(name, seen) {
			return n, Invalid(name, "is given twice")
		}
		p.space()
		if p.peek() != ':' {
			return n, p.fail("a colon is missing")
		}
		p.pos++
		p.space()
		v, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		n.members = append(n.members, member{name, v})
		if len(n.members) == 16 {
			seen = make(map[string]bool, 64)
			for _, m := range n.members {
				seen[m.name] = true
			}
		} else if seen != nil {
			seen[name] = true
		}
	}
	p.pos++
	return n, nil
}

// has looks a name up: by scan while there are few members, by set above.
func (n *node) has(name string, seen map[string]bool) bool {
	if seen != nil {
		return seen[name]
	}
	for i := range n.members {
		if n.members[i].name == name {
			return true
		}
	}
	return false
}

func (p *jsonParser) array(depth int) (node, error) {
	n := node{kind: nodeArray}
	p.pos++
	for p.space(); p.peek() != ']'; p.space() {
		if len(n.items) > 0 {
			if p.peek() != ',' {
				return n, p.fail("a comma or a closing bracket is missing")
			}
			p.pos++
			p.space()
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		n.items = append(n.items, v)
	}
	p.pos++
	return n, nil
}

func (p *jsonParser) number() (node, error) {
	start := p.pos
	digits := func() bool {
		from := p.pos
		for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
			p.pos++
		}
		return p.pos > from
	}
	if p.peek() == '-' {
		p.pos++
	}
	first := p.pos
	if !digits() || p.src[first] == '0' && p.pos-first > 1 {
		return node{}, p.fail("this is not a number")
	}
	if p.peek() == '.' {
		p.pos++
		if !digits() {
			return node{}, p.fail("this is not a number")
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		if !digits() {
			return node{}, p.fail("this is not a number")
		}
	}
	return node{kind: nodeNumber, text: string(p.src[start:p.pos])}, nil
}

func (p *jsonParser) str() (string, error) {
	p.pos++
	start := p.pos
	for p.pos < len(p.src) && p.src[p.pos] != '"' && p.src[p.pos] != '\\' && p.src[p.pos] >= 0x20 {
		p.pos++
	}
	out := p.src[start:p.pos:p.pos]
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == '"':
			p.pos++
			if !utf8.Valid(out) {
				return "", p.fail("the string is not UTF-8")
			}
			return string(out), nil
		case c < 0x20:
			return "", p.fail("a control character in a string must be escaped")
		case c != '\\':
			out = append(out, c)
			p.pos++
		default:
			var err error
			if out, err = p.escape(out); err != nil {
				return "", err
			}
		}
	}
	return "", p.fail("the string does not end")
}

const escapes = `"\/bfnrt`

func (p *jsonParser) escape(out []byte) ([]byte, error) {
	p.pos++
	c := p.peek()
	p.pos++
	if c != 'u' {
		for i := 0; i < len(escapes); i++ {
			if escapes[i] == c {
				return append(out, "\"\\/\b\f\n\r\t"[i]), nil
			}
		}
		return nil, p.fail("this escape does not exist")
	}
	r, ok := p.hex4()
	if !ok {
		return nil, p.fail(`\u needs four hexadecimal digits`)
	}
	if utf16.IsSurrogate(r) {
		if p.pos+1 >= len(p.src) || p.src[p.pos] != '\\' || p.src[p.pos+1] != 'u' {
			return nil, p.fail("a surrogate stands alone")
		}
		p.pos += 2
		low, ok := p.hex4()
		if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
			return nil, p.fail("a surrogate stands alone")
		}
	}
	return utf8.AppendRune(out, r), nil
}

func (p *jsonParser) hex4() (rune, bool) {
	if p.pos+4 > len(p.src) {
		return 0, false
	}
	var r rune
	for _, c := range p.src[p.pos : p.pos+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	p.pos += 4
	return r, true
}

// float is the value of a number node.
func (n *node) float() (float64, error) { return strconv.ParseFloat(n.text, 64) }

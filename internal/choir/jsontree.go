package choir

import "strconv"

type nodeKind uint8

const (
	nodeNull nodeKind = iota
	nodeTrue
	nodeFalse
	nodeNumber
	nodeString
	nodeArray
	nodeObject
)

// node is one parsed JSON value. Object members are in the order of the input.
type node struct {
	kind    nodeKind
	text    string // of a string
	number  float64
	items   []node
	members []member
}

type member struct {
	name  string
	value node
}

// tree parses the next JSON value, nested depth levels deep. A duplicate member name, or
// nesting beyond maxDepth, is code invalid.
func (s *scanner) tree(depth int) (node, error) {
	switch c := s.peek(); {
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.array(depth)
	case c == '"':
		text, err := s.str()
		return node{kind: nodeString, text: string(text)}, err
	case c == '-' || c-'0' <= 9:
		f, err := s.double()
		return node{kind: nodeNumber, number: f}, err
	case s.literal("null"):
		return node{}, nil
	case s.literal("true"):
		return node{kind: nodeTrue}, nil
	case s.literal("false"):
		return node{kind: nodeFalse}, nil
	}
	return node{}, s.noValue()
}

// double consumes a number and returns it as an IEEE 754 double. A number outside its
// range is code invalid.
func (s *scanner) double() (float64, error) {
	text, err := s.number()
	if err != nil {
		return 0, err
	}
	if len(text) < 16 && isDigits(text) {
		return float64(number(text)), nil
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, RefuseField("$", ReasonFieldOutOfRange, TextOf("given", clip(string(text))))
	}
	return f, nil
}

func (s *scanner) object(depth int) (node, error) {
	n := node{kind: nodeObject}
	seen := map[string]bool{}
	if err := s.open(depth); err != nil {
		return n, err
	}
	for {
		more, err := s.next('}', len(n.members) == 0)
		if err != nil || !more {
			return n, err
		}
		raw, err := s.name()
		if err != nil {
			return n, err
		}
		name := string(raw)
		if seen[name] {
			return n, RefuseField(pathOf(name), ReasonFieldTwice)
		}
		seen[name] = true
		v, err := s.tree(depth + 1)
		if err != nil {
			return n, Under(pathOf(name), err)
		}
		n.members = append(n.members, member{name, v})
	}
}

func (s *scanner) array(depth int) (node, error) {
	n := node{kind: nodeArray}
	if err := s.open(depth); err != nil {
		return n, err
	}
	for {
		more, err := s.next(']', len(n.items) == 0)
		if err != nil || !more {
			return n, err
		}
		v, err := s.tree(depth + 1)
		if err != nil {
			return n, Under(indexPath(len(n.items)), err)
		}
		n.items = append(n.items, v)
	}
}

// pathOf returns a member name as an element of an error path: as it is if it is a plain
// word, else quoted in brackets. The result is never empty.
func pathOf(name string) string {
	if plainName(name) {
		return name
	}
	return "[" + strconv.Quote(clip(name)) + "]"
}

func plainName(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '_' && c != '-' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 80
}

func indexPath(i int) string { return "[" + strconv.Itoa(i) + "]" }

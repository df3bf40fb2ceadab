package choir

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// shape holds the parsed tags of a struct type. Its fields are in the order of canonical
// JSON.
type shape struct {
	fields []field
	index  map[string]int
	check  bool // a pointer to the struct is a checker
}

type field struct {
	name     string
	at       int
	required bool
	rules    *rules
}

// checker is implemented by pointers to structs that have rules between fields.
type checker interface{ Check() error }

var (
	timeType    = reflect.TypeFor[Time]()
	rawType     = reflect.TypeFor[json.RawMessage]()
	bytesType   = reflect.TypeFor[[]byte]()
	checkerType = reflect.TypeFor[checker]()
)

// shapes caches a *shape for each struct type, by reflect.Type. It is never emptied.
var shapes sync.Map

func shapeOf(t reflect.Type) (*shape, error) {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape), nil
	}
	s := &shape{index: map[string]int{}, check: reflect.PointerTo(t).Implements(checkerType)}
	for i := range t.NumField() {
		sf := t.Field(i)
		name, opts, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if !sf.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			return nil, E("choir.shape", CodeInternal, "%s.%s has no json tag", t, sf.Name)
		}
		r, err := parseRules(sf.Tag.Get("choir"))
		if err != nil {
			return nil, Wrap("choir.shape", CodeInternal, err, "%s.%s", t, sf.Name)
		}
		required := opts == ""
		r.null = required && (r.len == nil || r.len.min == 0)
		s.fields = append(s.fields, field{name: name, at: i, required: required, rules: r})
	}
	if len(s.fields) > 64 {
		return nil, E("choir.shape", CodeInternal, "%s has more than 64 fields", t)
	}
	slices.SortFunc(s.fields, func(a, b field) int { return compareUTF16(a.name, b.name) })
	for i, f := range s.fields {
		s.index[f.name] = i
	}
	shapes.Store(t, s)
	return s, nil
}

// find returns the index of the field with a JSON name. It searches from index from on
// first, where canonical JSON has the field, then everywhere.
func (sh *shape) find(name []byte, from int) (int, bool) {
	for i := from; i < len(sh.fields); i++ {
		if sh.fields[i].name == string(name) {
			return i, true
		}
	}
	at, ok := sh.index[string(name)]
	return at, ok
}

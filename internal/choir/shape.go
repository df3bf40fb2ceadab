package choir

import (
	"reflect"
	"strings"
	"sync"
)

// shape is what the tags of a struct say, read once per type.
type shape struct {
	fields []field
	index  map[string]int
}

type field struct {
	name     string
	at       int
	required bool
	rules    rules
}

// shapes caches by reflect.Type; it only grows, by the types of this program.
var shapes sync.Map

func shapeOf(t reflect.Type) (*shape, error) {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape), nil
	}
	s := &shape{index: map[string]int{}}
	for i := 0; i < t.NumField(); i++ {
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
		s.index[name] = len(s.fields)
		s.fields = append(s.fields, field{
			name: name, at: i, rules: r,
			required: !strings.Contains(opts, "omitempty") && !strings.Contains(opts, "omitzero"),
		})
	}
	shapes.Store(t, s)
	return s, nil
}

package choir

import (
	"fmt"
	"reflect"
	"strings"
)

// FieldInfo describes one field of a struct of this package, for the generators of
// schemas, documents and test values.
type FieldInfo struct {
	Name     string
	Index    int // of the Go struct
	Type     reflect.Type
	Required bool
	Doc      string
	Rules    RuleInfo
}

// RuleInfo holds the rules of a field's choir tag, see DecodeStrict. A nil or empty field
// is no rule.
type RuleInfo struct {
	Len, Each, Range *Bounds
	Enum             []string
	Format           string // id, id7, digest or empty
}

// Bounds is an inclusive range.
type Bounds struct{ Min, Max float64 }

func (b *Bounds) String() string {
	s := span{b.Min, b.Max}
	return s.String()
}

// Describe returns the JSON fields of a struct type of this package, in the order of
// their declaration. It panics on a struct whose tags do not parse.
func Describe(t reflect.Type) []FieldInfo {
	sh, err := shapeOf(t)
	if err != nil {
		panic(fmt.Sprintf("choir: %s is not of the vocabulary: %v", t, err))
	}
	out := make([]FieldInfo, 0, len(sh.fields))
	for i := range t.NumField() {
		sf := t.Field(i)
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		at, ok := sh.index[name]
		if !ok || sh.fields[at].at != i {
			continue
		}
		f := sh.fields[at]
		out = append(out, FieldInfo{Name: name, Index: i, Type: sf.Type, Required: f.required, Doc: sf.Tag.Get("doc"), Rules: f.rules.info()})
	}
	return out
}

func (r *rules) info() RuleInfo {
	out := RuleInfo{Len: r.len.bounds(), Range: r.num.bounds(), Enum: r.enum}
	if r.item != nil {
		out.Each = r.item.len.bounds()
	}
	switch {
	case r.id:
		out.Format = "id"
	case r.id7:
		out.Format = "id7"
	case r.digest:
		out.Format = "digest"
	}
	return out
}

func (s *span) bounds() *Bounds {
	if s == nil {
		return nil
	}
	return &Bounds{s.min, s.max}
}

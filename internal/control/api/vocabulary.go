package api

import (
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
)

const schemaPrefix = "#/components/schemas/"

// nameOfType is where the OpenAPI document says which type of the vocabulary a
// schema is, for programs that have that type.
const nameOfType = "x-choir-type"

// addVocabulary says in the OpenAPI document which schemas are types of the
// vocabulary, and adds to each field the values that the vocabulary allows it.
// Fields of other packages' types have the values of their Go type: those of all
// fields of the vocabulary with that type.
func addVocabulary(reg huma.Registry) {
	words := typeWords()
	for name, schema := range reg.Map() {
		t := reg.TypeFromRef(schemaPrefix + name)
		if isVocabulary(t) && t.Kind() == reflect.Struct {
			setName(schema, t)
			for _, f := range choir.Describe(t) {
				setWords(schema.Properties[f.Name], f.Rules.Enum)
			}
		}
		for _, f := range reflect.VisibleFields(t) {
			field, of := schema.Properties[jsonName(f)], element(f.Type)
			if field != nil && field.Items != nil {
				field = field.Items
			}
			if field == nil || !isVocabulary(of) || of.Kind() == reflect.Struct || len(field.Enum) > 0 {
				continue
			}
			setName(field, of)
			setWords(field, words[of])
		}
		schema.PrecomputeMessages()
	}
}

func setName(schema *huma.Schema, t reflect.Type) {
	schema.Extensions = map[string]any{nameOfType: t.Name()}
}

// setWords limits a field, or the items of a list, to some values, unless its tag does.
func setWords(field *huma.Schema, words []string) {
	if field != nil && field.Items != nil {
		field = field.Items
	}
	if field == nil || field.Type != huma.TypeString || len(field.Enum) > 0 {
		return
	}
	for _, word := range words {
		field.Enum = append(field.Enum, word)
	}
}

// typeWords returns the values of each named text type of the vocabulary that has a
// closed list of them.
func typeWords() map[reflect.Type][]string {
	out := map[reflect.Type][]string{reflect.TypeFor[choir.Code](): textsOf(choir.Codes())}
	samples := []any{choir.Event{}, choir.DirectorTask{}, choir.AssociateResult{}}
	for _, info := range choir.Types() {
		out[reflect.TypeFor[choir.Type]()] = append(out[reflect.TypeFor[choir.Type]()], string(info.Type))
		samples = append(samples, info.Sample)
	}
	seen := map[reflect.Type]bool{}
	for _, sample := range samples {
		collectWords(reflect.TypeOf(sample), out, seen)
	}
	return out
}

// collectWords adds the values of the text types of a struct and of the structs in it.
func collectWords(t reflect.Type, out map[reflect.Type][]string, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	for _, f := range choir.Describe(t) {
		of := element(f.Type)
		if isVocabulary(of) && of.Kind() == reflect.Struct {
			collectWords(of, out, seen)
		}
		if !isVocabulary(of) || of.Kind() != reflect.String {
			continue
		}
		for _, word := range f.Rules.Enum {
			if !slices.Contains(out[of], word) {
				out[of] = append(out[of], word)
			}
		}
	}
}

// isVocabulary reports whether a type is declared in the vocabulary.
func isVocabulary(t reflect.Type) bool {
	return t != nil && t.PkgPath() == reflect.TypeFor[choir.Event]().PkgPath()
}

// element returns the type behind pointers and lists.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

func textsOf[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

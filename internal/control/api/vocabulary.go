package api

import (
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
)

const schemaPrefix = "#/components/schemas/"

// nameOfType is the OpenAPI extension that names the vocabulary type of a schema, for
// programs that have that type.
const nameOfType = "x-choir-type"

// addVocabulary adds to the OpenAPI document the vocabulary type of each schema, and to
// its fields the allowed values. A field of another package's struct gets all values
// that any vocabulary field of its type allows.
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

// setName sets the vocabulary type of a schema.
func setName(schema *huma.Schema, t reflect.Type) {
	schema.Extensions = map[string]any{nameOfType: t.Name()}
}

// setWords sets the allowed values of a text field, or of the items of a list. Values
// that the field's tag already sets stay.
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

// typeWords returns the allowed values of each text type of the vocabulary that has a
// closed list.
func typeWords() map[reflect.Type][]string {
	out := map[reflect.Type][]string{reflect.TypeFor[choir.Code](): textsOf(choir.Codes()), reflect.TypeFor[choir.Reason](): textsOf(choir.Reasons())}
	samples := []any{choir.Event{}, choir.Problem{}, choir.DirectorTask{}, choir.AssociateResult{}}
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

// collectWords adds to out the allowed values of all text fields of t and of structs
// within it. seen prevents cycles.
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

// element returns the element type of pointers and slices, however nested.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// textsOf converts a list of text types to strings.
func textsOf[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

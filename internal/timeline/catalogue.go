package timeline

import (
	"embed"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/names"
)

// catalogues are the sentences about events, one file for each language.
//
//go:embed events.en.json events.de.json
var catalogues embed.FS

// sentences returns the sentences of each language by their keys. It panics if a file is malformed.
var sentences = sync.OnceValue(func() map[names.Language]map[string]choir.Sentence {
	out := map[names.Language]map[string]choir.Sentence{}
	for _, l := range names.Languages() {
		file := "events." + string(l) + ".json"
		raw, err := catalogues.ReadFile(file)
		var all map[string]choir.Sentence
		if err == nil {
			err = json.Unmarshal(raw, &all)
		}
		if err != nil {
			panic(fmt.Sprintf("timeline: %s: %v", file, err))
		}
		out[l] = all
	}
	return out
})

// speaker says sentences in one language.
type speaker struct{ language names.Language }

// sentence returns the sentence with a key. The values are pairs of a placeholder's name and its value, of
// which the number n chooses the form. An unknown key is returned itself.
func (s speaker) sentence(key string, values ...any) string {
	found, ok := sentences()[s.language][key]
	if !ok {
		return key
	}
	filling := make([]choir.Value, len(values)/2)
	for i := range filling {
		name, value := values[2*i].(string), values[2*i+1]
		switch v := reflect.ValueOf(value); {
		case v.CanInt():
			filling[i] = choir.CountOf(name, v.Int())
		case v.CanUint():
			filling[i] = choir.CountOf(name, v.Uint())
		default:
			filling[i] = choir.Value{Name: name, Kind: choir.ValueText, Text: fmt.Sprint(value)}
		}
	}
	return found.Fill(string(s.language), filling)
}

// term returns the word for a value of a closed list, and the value itself if there is no word for it.
func (s speaker) term(list string, value any) string {
	key := fmt.Sprintf("%s.%v", list, value)
	if word := s.sentence(key); word != key {
		return word
	}
	return fmt.Sprint(value)
}

// BytesIn returns the same as Bytes with the decimal point of a language.
func BytesIn(l names.Language, n int64) string {
	if l == names.German {
		return strings.Replace(Bytes(n), ".", ",", 1)
	}
	return Bytes(n)
}

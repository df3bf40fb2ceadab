package main

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"choiros/internal/choir"
	"choiros/internal/names"
	"choiros/internal/timeline"
	"choiros/internal/visible"
)

// catalogues are the texts that choir's commands print for people, one file of sentences and one of
// help for each language.
//
//go:embed sentences.en.json sentences.de.json help.en.json help.de.json
var catalogues embed.FS

// sentences returns the sentences of each language by their keys.
var sentences = sync.OnceValue(func() map[names.Language]map[string]choir.Sentence {
	out := map[names.Language]map[string]choir.Sentence{}
	for _, l := range names.Languages() {
		out[l] = readCatalogue[map[string]choir.Sentence]("sentences", l)
	}
	return out
})

// readCatalogue decodes an embedded catalogue of a language. It panics if the file is malformed.
func readCatalogue[T any](name string, l names.Language) (out T) {
	file := name + "." + string(l) + ".json"
	raw, err := catalogues.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("%s: %v", file, err))
	}
	return out
}

// speaker says sentences in the person's language.
type speaker struct {
	console
	env  func(string) string
	json bool // a program reads the output
	// forProgram is set if --json is among the arguments, before they are parsed.
	forProgram bool
}

// spoken returns the language of sentences: that of the person, or English if a program reads them.
func (a *speaker) spoken() names.Language {
	if a.json || a.forProgram {
		return names.English
	}
	return a.language()
}

// sentence returns the sentence with a key. The values are pairs of a placeholder's name and its
// value: a number is written as it is, and chooses the form if its name is n; any other value becomes
// one visible line, except lines. An unknown key is returned itself.
func (a *speaker) sentence(key string, values ...any) string {
	return sentenceIn(a.spoken(), key, values...)
}

// sentenceIn returns the same as sentence in a language.
func sentenceIn(l names.Language, key string, values ...any) string {
	s, ok := sentences()[l][key]
	if !ok {
		return key
	}
	filling := make([]choir.Value, len(values)/2)
	for i := range filling {
		filling[i] = valueOf(values[2*i].(string), values[2*i+1])
	}
	return s.Fill(string(l), filling)
}

// retellNested returns a sentence of the doctor's checks, which the control plane says in English, in the person's
// language: by the first of the keys that begin with told and models whose English sentence it is, likewise for
// sentences inside of it. A sentence of none of the keys is returned itself.
func (a *speaker) retellNested(said string) string {
	if a.spoken() == names.English {
		return said
	}
	for _, key := range nestedKeys() {
		for _, form := range englishForms()[key] {
			found := form.FindStringSubmatch(said)
			if found == nil {
				continue
			}
			var values []any
			for i, name := range form.SubexpNames()[1:] {
				if n, err := strconv.Atoi(found[i+1]); err == nil {
					values = append(values, name, n)
				} else {
					values = append(values, name, lines(a.retellNested(found[i+1])))
				}
			}
			return a.sentence(key, values...)
		}
	}
	return said
}

// nestedKeys returns the keys of retellNested, the longest sentences first, because a shorter one may match
// them too.
var nestedKeys = sync.OnceValue(func() (keys []string) {
	english := sentences()[names.English]
	for key := range english {
		if strings.HasPrefix(key, "told.") || strings.HasPrefix(key, "models.") {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(x, y string) int {
		return cmp.Or(len(english[y].Other)-len(english[x].Other), strings.Compare(x, y))
	})
	return keys
})

// englishForms returns expressions that match the forms of each English sentence, with a group for each
// placeholder.
var englishForms = sync.OnceValue(func() map[string][]*regexp.Regexp {
	quotedPlaceholder := regexp.MustCompile(`\\\{(\w+)\\\}`)
	out := map[string][]*regexp.Regexp{}
	for key, s := range sentences()[names.English] {
		for _, form := range []string{s.One, s.Other} {
			expression := strings.ReplaceAll(regexp.QuoteMeta(form), `\{n\}`, `(?P<n>\d+)`)
			expression = quotedPlaceholder.ReplaceAllString(expression, `(?P<$1>.*)`)
			if whole, err := regexp.Compile(`(?s)^` + expression + `$`); err == nil { // else a placeholder stands in it twice
				out[key] = append(out[key], whole)
			}
		}
	}
	return out
})

// valueOf returns the value of a placeholder.
func valueOf(name string, value any) choir.Value {
	v := reflect.ValueOf(value)
	switch {
	case v.CanInt():
		return choir.CountOf(name, v.Int())
	case v.CanUint():
		return choir.CountOf(name, v.Uint())
	}
	text := visible.Line(fmt.Sprint(value))
	if several, ok := value.(lines); ok {
		text = visible.Text(string(several))
	}
	return choir.Value{Name: name, Kind: choir.ValueText, Text: text}
}

// say prints the sentence with a key as a line of its own.
func (a *speaker) say(key string, values ...any) {
	a.printf("%s\n", lines(a.sentence(key, values...)))
}

// sayNone prints the sentence that stands for an empty list of n things.
func (a *speaker) sayNone(n int, key string) {
	if n == 0 {
		a.say(key)
	}
}

// sayAside prints the sentence with a key to the error output, as a line of its own.
func (a *speaker) sayAside(key string, values ...any) {
	a.errorf("%s\n", lines(a.sentence(key, values...)))
}

// warn prints the sentence with a key to the error output, behind the program's name.
func (a *speaker) warn(key string, values ...any) {
	a.errorf("choir: %s\n", lines(a.sentence(key, values...)))
}

// count returns a number with its noun, such as "3 paths".
func (a *speaker) count(noun string, n any) string { return a.sentence("count."+noun, "n", n) }

// term returns the word for a value of a closed list, such as the state of a run; the value itself if
// the catalogue has no word for it.
func (a *speaker) term(list string, value any) string {
	key := fmt.Sprintf("term.%s.%v", list, value)
	if word := a.sentence(key); word != key {
		return word
	}
	return fmt.Sprint(value)
}

// label returns the same as term, filled with spaces to the width of the longest word of the list, so
// that what stands behind labels is aligned in every language.
func (a *speaker) label(list string, value any) string {
	width := 0
	for key, s := range sentences()[a.spoken()] {
		if strings.HasPrefix(key, "term."+list+".") {
			width = max(width, utf8.RuneCountInString(s.Other))
		}
	}
	return fmt.Sprintf("%-*s", width, a.term(list, value))
}

// dollars returns an amount of money, such as "$0.0123".
func (a *speaker) dollars(usd float64) string {
	return a.sentence("dollars", "usd", a.decimal(usd, 4))
}

// size returns a number of bytes as people read it, such as "12.3 kB".
func (a *speaker) size(n int64) string { return timeline.BytesIn(a.spoken(), n) }

// decimal returns a number with this many digits behind the decimal point of the language.
func (a *speaker) decimal(n float64, digits int) string {
	text := strconv.FormatFloat(n, 'f', digits, 64)
	if a.spoken() == names.German {
		return strings.Replace(text, ".", ",", 1)
	}
	return text
}

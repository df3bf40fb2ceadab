package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"reflect"
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

// sayTold returns a sentence of the control plane in the person's language, by the data that came with it. It
// returns the text, which is English, without data, or if this choir does not know the sentence.
func (a *speaker) sayTold(text string, said *choir.Said) string {
	if said == nil || a.spoken() == names.English {
		return text
	}
	if told, ok := fillSaid(a.spoken(), *said); ok {
		return told
	}
	return text
}

// fillSaid returns the sentence that data name, and those inside of it, in a language; false if the
// catalogues lack one of them.
func fillSaid(l names.Language, said choir.Said) (string, bool) {
	values := slices.Clone(said.Values)
	for name, inner := range said.Inside {
		text, ok := fillSaid(l, inner)
		if !ok {
			return "", false
		}
		values = append(values, choir.LinesOf(name, text))
	}
	if reason, ok := strings.CutPrefix(said.Key, choir.SaidOfReason); ok {
		text, _, ok := choir.SayReason(string(l), choir.Reason(reason), values)
		return text, ok
	}
	if reason, ok := strings.CutPrefix(said.Key, choir.HelpOfReason); ok {
		_, text, ok := choir.SayReason(string(l), choir.Reason(reason), values)
		return text, ok
	}
	s, ok := sentences()[l][said.Key]
	return s.Fill(string(l), values), ok
}

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

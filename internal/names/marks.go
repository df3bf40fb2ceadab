package names

import (
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Language is a language of choir's texts.
type Language string

// The supported languages.
const (
	English Language = "en"
	German  Language = "de"
)

// Languages returns all supported languages, English first.
func Languages() []Language { return []Language{English, German} }

// LanguageOf returns the language of a locale such as de_DE.UTF-8, English for an unsupported one.
func LanguageOf(locale string) Language {
	tag, _, _ := strings.Cut(locale, ".")
	tag, _, _ = strings.Cut(strings.ReplaceAll(tag, "-", "_"), "_")
	if strings.EqualFold(tag, string(German)) {
		return German
	}
	return English
}

// Sentence is a text with a singular and a plural form, which may be equal.
type Sentence struct{ One, Other string }

// UnmarshalJSON decodes a string, or an object with the forms one and other.
func (s *Sentence) UnmarshalJSON(raw []byte) error {
	if err := json.Unmarshal(raw, &s.Other); err == nil {
		s.One = s.Other
		return nil
	}
	var forms struct{ One, Other string }
	if err := json.Unmarshal(raw, &forms); err != nil {
		return fmt.Errorf("names: a sentence is a text, or has the forms one and other: %w", err)
	}
	*s = Sentence(forms)
	return nil
}

// Values replace the placeholders of a sentence.
type Values struct {
	Text string // {text}
	Tool string // {tool}
	From string // {from}
	To   string // {to}
	N    int    // {n}; 1 selects the singular
}

//go:embed marks.en.json marks.de.json
var catalogues embed.FS

// marks has the sentences of the timeline by language and key.
var marks = readMarks()

// readMarks decodes the embedded sentences of all languages. It panics if a file is malformed.
func readMarks() map[Language]map[string]Sentence {
	out := map[Language]map[string]Sentence{}
	for _, l := range Languages() {
		raw := MarkCatalogue(l)
		var sentences map[string]Sentence
		if err := json.Unmarshal(raw, &sentences); err != nil {
			panic(fmt.Sprintf("names: marks.%s.json: %v", l, err))
		}
		out[l] = sentences
	}
	return out
}

// MarkCatalogue returns the JSON file with the sentences of the timeline in a language, from which
// the pages' copy is generated.
func MarkCatalogue(l Language) []byte {
	raw, err := catalogues.ReadFile("marks." + string(l) + ".json")
	if err != nil {
		panic(err) // it is embedded
	}
	return raw
}

// MarkKeys returns the keys of the timeline's sentences in a language, unsorted.
func MarkKeys(l Language) []string {
	out := make([]string, 0, len(marks[l]))
	for key := range marks[l] {
		out = append(out, key)
	}
	return out
}

// SayMark returns the timeline's sentence with a key, with the values inserted; false if there is
// none.
func SayMark(l Language, key string, v Values) (string, bool) {
	s, ok := marks[l][key]
	if !ok {
		return "", false
	}
	text := s.Other
	if v.N == 1 {
		text = s.One
	}
	return strings.NewReplacer("{text}", v.Text, "{tool}", v.Tool, "{from}", v.From, "{to}", v.To, "{n}", strconv.Itoa(v.N)).Replace(text), true
}

// ListMarked returns the things separated by commas, followed by "and n more" if more > 0, in a
// language.
func ListMarked(l Language, things []string, more int) string {
	text := strings.Join(things, ", ")
	if len(things) == 0 {
		text, _ = SayMark(l, "nothing", Values{})
	}
	if more > 0 {
		text, _ = SayMark(l, "andMore", Values{Text: text, N: more})
	}
	return text
}

package choir

import (
	"cmp"
	_ "embed" // for the sentences
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Reason is a stable name of a refusal from a closed list. Its sentences are in
// problems.en.json and problems.de.json.
type Reason string

// ValueKind says how a value is written.
type ValueKind string

// The kinds of values.
const (
	ValueText    ValueKind = "text"    // Text as it is
	ValueCount   ValueKind = "count"   // Number of things; in the placeholder n it chooses the form
	ValueBytes   ValueKind = "bytes"   // Number in bytes
	ValueSeconds ValueKind = "seconds" // Number in seconds
	ValueDollars ValueKind = "usd"     // Number in US dollars
)

// Value fills the placeholder of a reason's sentence that has its name.
type Value struct {
	Name   string    `json:"name" choir:"len=1..40" doc:"Placeholder that it fills."`
	Kind   ValueKind `json:"kind" choir:"enum=text|count|bytes|seconds|usd" doc:"How it is written."`
	Text   string    `json:"text,omitempty" choir:"len=1..2400" doc:"Value of kind text; control characters are escaped."`
	Number float64   `json:"number,omitempty" doc:"Value of the other kinds."`
}

// maxValue is the length in bytes of the text of a value.
const maxValue = 600

// TextOf returns a value with a text. Control characters, and characters that show
// nothing, become escapes; a long text is shortened.
func TextOf(name string, text any) Value {
	return Value{Name: name, Kind: ValueText, Text: escaped(truncate(fmt.Sprint(text), maxValue))}
}

// CountOf returns a value with a number of things.
func CountOf[N int | int64 | uint64](name string, n N) Value {
	return Value{Name: name, Kind: ValueCount, Number: float64(n)}
}

// BytesOf returns a value with a number of bytes.
func BytesOf[N int | int64 | uint64](name string, n N) Value {
	return Value{Name: name, Kind: ValueBytes, Number: float64(n)}
}

// SecondsOf returns a value with a length of time, in whole seconds rounded up.
func SecondsOf(name string, d time.Duration) Value {
	return Value{Name: name, Kind: ValueSeconds, Number: math.Ceil(d.Seconds())}
}

// DollarsOf returns a value with an amount in US dollars.
func DollarsOf(name string, usd float64) Value {
	return Value{Name: name, Kind: ValueDollars, Number: usd}
}

// escaped returns text in which whatever shows nothing is written as in a Go string.
func escaped(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if unicode.IsPrint(r) && (r != utf8.RuneError || n > 1) {
			b.WriteString(text[:n])
		} else {
			quoted := strconv.Quote(text[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[n:]
	}
	return b.String()
}

// Refuse returns an Error for a reason, with the reason's code and its English sentence.
// The values fill the placeholders of the sentence.
func Refuse(op string, reason Reason, values ...Value) *Error {
	said, help, _ := english.of(englishFile, englishHostFile).sayReason("en", reason, values)
	return &Error{Op: op, Code: reasonCodes[reason], Msg: said, Remedy: help, Reason: reason, Values: values}
}

// RefuseField returns an Error about the field at path, for a reason whose sentences begin
// with {field}. The message leaves the field out, which Error and a Problem name by its
// path; ReasonOf adds it to the values, as it is called after Under.
func RefuseField(path string, reason Reason, values ...Value) *Error {
	return Refuse("", reason, values...).At(path)
}

// fieldName is the placeholder for the path of an error.
const fieldName = "field"

// NamesField reports whether a value is the field that a sentence is about.
func NamesField(values []Value) bool {
	return slices.ContainsFunc(values, func(v Value) bool { return v.Name == fieldName })
}

// withField returns the values with the path as the field; unchanged for a sentence
// without one.
func (r Reason) withField(values []Value, path string) []Value {
	if !strings.HasPrefix(english.of(englishFile, englishHostFile).Reasons[r].Said.Other, "{"+fieldName+"}") || path == "" || path == "$" {
		return values
	}
	others := slices.DeleteFunc(slices.Clone(values), func(v Value) bool { return v.Name == fieldName })
	return append(others, TextOf(fieldName, path))
}

// At sets the error's path, the field or thing it is about, and returns the same error.
func (e *Error) At(path string) *Error {
	e.Path = path
	return e
}

// Reasons lists every reason, sorted.
func Reasons() []Reason { return slices.Sorted(maps.Keys(reasonCodes)) }

// Code returns the code of the errors with this reason; empty for an unknown reason.
func (r Reason) Code() Code { return reasonCodes[r] }

// ReasonOf returns the reason and its values of the first error in err's chain that has
// one and shares the code of the first error; empty if there is none.
func ReasonOf(err error) (Reason, []Value) {
	for code := CodeOf(err); ; {
		var e *Error
		if !errors.As(err, &e) || e.Code != code {
			return "", nil
		}
		if e.Reason != "" {
			return e.Reason, e.Reason.withField(e.Values, e.Path)
		}
		err = e.Err
	}
}

// Sentence is a text with a form for one thing and one for other numbers, which may be
// equal.
type Sentence struct{ One, Other string }

// UnmarshalJSON decodes a string, or an object with the forms one and other.
func (s *Sentence) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &s.Other) == nil {
		s.One = s.Other
		return nil
	}
	var forms struct{ One, Other string }
	if err := json.Unmarshal(raw, &forms); err != nil {
		return fmt.Errorf("a sentence is a text, or has the forms one and other: %w", err)
	}
	*s = Sentence(forms)
	return nil
}

// ReasonSentences are what is said of a reason: what happened, and what to do next,
// which may be empty.
type ReasonSentences struct{ Said, Help Sentence }

// ProblemCatalogue is the content of problems.*.json.
type ProblemCatalogue struct {
	// Codes are the sentences for problems without a reason, around the English text
	// {text}. English has none.
	Codes   map[Code]Sentence
	Reasons map[Reason]ReasonSentences
}

//go:embed problems.en.json
var englishFile []byte

// germanFile is linked into the programs that speak to people, and not into choir-init.
//
//go:embed problems.de.json
var germanFile []byte

// The sentences that only the host's own programs say, which no page needs.
var (
	//go:embed problemshost.en.json
	englishHostFile []byte
	//go:embed problemshost.de.json
	germanHostFile []byte
)

// ProblemFile returns the JSON file with the sentences of problems that pages say in a
// language, such as "en"; nil for a language without one.
func ProblemFile(language string) []byte {
	switch language {
	case "en":
		return englishFile
	case "de":
		return germanFile
	}
	return nil
}

// readOnce is a catalogue that is read at its first use.
type readOnce struct {
	once sync.Once
	read ProblemCatalogue
}

func (r *readOnce) of(pages, host []byte) ProblemCatalogue {
	r.once.Do(func() {
		r.read = readProblems(pages)
		maps.Copy(r.read.Reasons, readProblems(host).Reasons)
	})
	return r.read
}

var english, german readOnce

// ProblemsIn returns the sentences of problems in a language; English ones for an
// unsupported language.
func ProblemsIn(language string) ProblemCatalogue {
	if language == "de" {
		return german.of(germanFile, germanHostFile)
	}
	return english.of(englishFile, englishHostFile)
}

// readProblems decodes an embedded catalogue. It panics if the file is malformed.
func readProblems(raw []byte) (c ProblemCatalogue) {
	if err := json.Unmarshal(raw, &c); err != nil {
		panic("choir: sentences of problems: " + err.Error())
	}
	return c
}

// SayReason returns the sentences of a reason in a language, with the values put in;
// false if the language has none for it.
func SayReason(language string, reason Reason, values []Value) (said, help string, ok bool) {
	return ProblemsIn(language).sayReason(language, reason, values)
}

// sayReason is SayReason for a catalogue.
func (c ProblemCatalogue) sayReason(language string, reason Reason, values []Value) (said, help string, ok bool) {
	s, ok := c.Reasons[reason]
	said = s.Said.Fill(language, values)
	if !NamesField(values) {
		said = strings.TrimLeft(strings.TrimPrefix(said, "{"+fieldName+"}"), ": ")
	}
	return said, s.Help.Fill(language, values), ok
}

// SayProblem returns a problem's sentences in a language: those of its reason, else its
// English ones behind the sentence of its code. A remedy that its reason does not have is
// said in English.
func SayProblem(language string, p Problem) (said, help string) {
	if language == "en" {
		return p.Message, p.Remedy // they may say more, such as the cause
	}
	if said, help, ok := SayReason(language, p.Reason, p.Values); ok {
		return said, cmp.Or(help, p.Remedy)
	}
	about, ok := ProblemsIn(language).Codes[p.Code]
	if !ok {
		return p.Message, p.Remedy
	}
	return about.Fill(language, []Value{{Name: "text", Kind: ValueText, Text: p.Message}}), p.Remedy
}

// Fill returns the form of the sentence for the value n, with all values put in.
func (s Sentence) Fill(language string, values []Value) string {
	text := s.Other
	var pairs []string
	for _, v := range values {
		if v.Name == "n" && v.Number == 1 {
			text = s.One
		}
		pairs = append(pairs, "{"+v.Name+"}", v.written(language))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// written returns the value as a language writes it. The pages write numbers likewise
// (ui/base/domain/problemsaid.ts).
func (v Value) written(language string) string {
	decimals := func(n float64, digits int) string {
		text := strconv.FormatFloat(n, 'f', digits, 64)
		if language == "de" {
			text = strings.Replace(text, ".", ",", 1)
		}
		return text
	}
	switch v.Kind {
	case ValueText:
		return v.Text
	case ValueDollars:
		return decimals(v.Number, 2)
	case ValueBytes:
		return inUnits(v.Number, []string{"bytes", "KiB", "MiB", "GiB"}, []float64{1 << 10, 1 << 10, 1 << 10}, decimals)
	case ValueSeconds:
		return inUnits(v.Number, []string{"s", "min", "h"}, []float64{60, 60}, decimals)
	}
	return decimals(v.Number, 0)
}

// inUnits returns a number in the largest unit that it has at least one of. steps[i] is
// how many of units[i] make one of units[i+1].
func inUnits(n float64, units []string, steps []float64, decimals func(float64, int) string) string {
	i := 0
	for i < len(steps) && n >= steps[i] {
		n /= steps[i]
		i++
	}
	if n == math.Trunc(n) {
		return decimals(n, 0) + " " + units[i]
	}
	return decimals(n, 1) + " " + units[i]
}

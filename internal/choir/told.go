package choir

import (
	"fmt"
	"maps"
	"slices"
)

// Said names a sentence that the programs which speak to people have in each language, and
// holds what fills its placeholders.
type Said struct {
	Key    string          `json:"key" doc:"Sentence: of the command line's catalogue, or, behind said. and help., of the reason."`
	Values []Value         `json:"values,omitempty" doc:"Fill the placeholders."`
	Inside map[string]Said `json:"inside,omitempty" doc:"Sentences that fill placeholders, by the placeholder."`
}

// Told is an English sentence, and the data by which it is said in other languages. Said is
// nil for a text that is the same in all of them, or is known in English only.
type Told struct {
	Text string
	Said *Said
}

// The prefixes of keys that name the sentences of a reason.
const (
	SaidOfReason = "said."
	HelpOfReason = "help."
)

// TellSentence returns the sentence with a key. english is the text of the English catalogue.
func TellSentence(key, english string, values ...Value) Told {
	return TellAround(key, english, nil, values...)
}

// TellAround is TellSentence for a sentence with others inside, by their placeholders.
func TellAround(key, english string, inside map[string]Told, values ...Value) Told {
	said := &Said{Key: key, Values: values}
	filling := slices.Clone(values)
	for _, name := range slices.Sorted(maps.Keys(inside)) {
		told := inside[name]
		filling = append(filling, LinesOf(name, told.Text))
		if told.Said == nil {
			said.Values = append(said.Values, LinesOf(name, told.Text))
			continue
		}
		if said.Inside == nil {
			said.Inside = map[string]Said{}
		}
		said.Inside[name] = *told.Said
	}
	return Told{Sentence{One: english, Other: english}.Fill("en", filling), said}
}

// TellProblem returns what a problem says and what it advises, by its reason if it has one. A
// text that is not the one of its reason, such as one with a cause, is told in English only.
func TellProblem(p Problem) (said, help Told) {
	said, help = Told{Text: p.Message}, Told{Text: p.Remedy}
	saidByReason, helpByReason, ok := SayReason("en", p.Reason, p.Values)
	if ok && said.Text == saidByReason {
		said.Said = &Said{Key: SaidOfReason + string(p.Reason), Values: p.Values}
	}
	if ok && help.Text == helpByReason && help.Text != "" {
		help.Said = &Said{Key: HelpOfReason + string(p.Reason), Values: p.Values}
	}
	return said, help
}

// TellError is TellProblem for an error, without its causes.
func TellError(e *Error) (said, help Told) {
	return TellProblem(Problem{Message: e.Msg, Remedy: e.Remedy, Reason: e.Reason, Values: e.Values})
}

// LinesOf returns a value with a text as it is, which may have several lines and may be long.
// Programs make it visible where they print it.
func LinesOf(name string, text any) Value {
	return Value{Name: name, Kind: ValueText, Text: fmt.Sprint(text)}
}

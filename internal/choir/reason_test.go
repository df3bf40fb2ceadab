package choir

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

var placeholder = regexp.MustCompile(`\{\w+\}`)

// placeholdersOf returns the placeholders of all forms of sentences, sorted.
func placeholdersOf(sentences ...Sentence) []string {
	var all []string
	for _, s := range sentences {
		all = append(all, placeholder.FindAllString(s.One+s.Other, -1)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestEveryReasonHasItsSentencesInEachLanguage(t *testing.T) {
	english, german := ProblemsIn("en"), ProblemsIn("de")
	for language, c := range map[string]ProblemCatalogue{"en": english, "de": german} {
		if got := slices.Sorted(maps.Keys(c.Reasons)); !slices.Equal(got, Reasons()) {
			t.Errorf("%s has sentences for\n%q, declared are\n%q", language, got, Reasons())
		}
	}
	for _, r := range Reasons() {
		en, de := english.Reasons[r], german.Reasons[r]
		if !r.Code().Known() {
			t.Errorf("%s has the code %q", r, r.Code())
		}
		if en.Said.Other == "" || de.Said.Other == "" || en.Said == de.Said {
			t.Errorf("%s is said %q and %q", r, en.Said, de.Said)
		}
		for _, s := range []Sentence{en.Said, en.Help, de.Said, de.Help} {
			if one, other := placeholdersOf(Sentence{One: s.One}), placeholdersOf(Sentence{One: s.Other}); !slices.Equal(one, other) {
				t.Errorf("%s has the placeholders %q for one and %q for others", r, one, other)
			}
		}
		if _, of := fieldReasons[r]; of != (hostReasons[r] == "" && strings.HasPrefix(en.Said.Other, "{field}")) || strings.HasPrefix(en.Said.Other, "{field}") != strings.HasPrefix(de.Said.Other, "{field}") {
			t.Errorf("%s is said %q and %q, in the table of fields: %v", r, en.Said.Other, de.Said.Other, of)
		}
		if (en.Help.Other == "") != (de.Help.Other == "") {
			t.Errorf("%s has help in one language only: %q and %q", r, en.Help, de.Help)
		}
		if e, d := placeholdersOf(en.Said, en.Help), placeholdersOf(de.Said, de.Help); !slices.Equal(e, d) {
			t.Errorf("%s has the placeholders %q and %q", r, e, d)
		}
	}
	if got := slices.Sorted(maps.Keys(german.Codes)); !slices.Equal(got, Codes()) {
		t.Errorf("German has sentences for the codes %q", got)
	}
	for code, s := range german.Codes {
		if !strings.Contains(s.Other, "{text}") {
			t.Errorf("%s does not say the English sentence: %q", code, s.Other)
		}
	}
}

func TestCataloguesHaveNoOtherKeys(t *testing.T) {
	for name, raw := range map[string][]byte{"en": englishFile, "de": germanFile, "host.en": englishHostFile, "host.de": germanHostFile} {
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.DisallowUnknownFields()
		var file struct {
			Codes   map[Code]json.RawMessage
			Reasons map[Reason]struct{ Said, Help json.RawMessage }
		}
		if err := d.Decode(&file); err != nil {
			t.Errorf("problems %s: %v", name, err)
		}
	}
}

func TestARefusalIsSaidInEachLanguage(t *testing.T) {
	values := []Value{CountOf("n", 5), SecondsOf("span", 10*time.Second), CountOf("wait", 3)}
	e := Refuse("api.prompt", ReasonTooManyPrompts, values...)
	if e.Code != CodeRateLimited || e.Msg != "more than 5 prompts in 10 s" || e.Remedy != "try again in 3 seconds" {
		t.Errorf("refused as %+v", e)
	}
	said, help := SayProblem("de", *ProblemOf(e))
	if said != "mehr als 5 Aufträge in 10 s" || help != "in 3 Sekunden erneut versuchen" {
		t.Errorf("said %q, %q", said, help)
	}
	one := Refuse("x", ReasonChangedOnBothSides, CountOf("n", 1), TextOf("paths", "a"))
	two := Refuse("x", ReasonChangedOnBothSides, CountOf("n", 2), TextOf("paths", "a, {n}"))
	if one.Msg != "1 path was changed differently since: a" || two.Msg != "2 paths were changed differently since: a, {n}" {
		t.Errorf("said %q, %q", one.Msg, two.Msg)
	}
	for language, want := range map[string]string{"en": "1.5 MiB 1.25 2 h 7", "de": "1,5 MiB 1,25 2 h 7"} {
		s := Sentence{Other: "{a} {b} {c} {d}"}
		if got := s.Fill(language, []Value{BytesOf("a", 3<<19), DollarsOf("b", 1.25), SecondsOf("c", 2*time.Hour), CountOf("d", 7)}); got != want {
			t.Errorf("%s writes %q, want %q", language, got, want)
		}
	}
}

func TestAProblemWithoutAReasonIsSaidByItsCode(t *testing.T) {
	p := *ProblemOf(E("x", CodeBusy, "the thing is held").WithRemedy("wait"))
	if said, help := SayProblem("de", p); said != "gerade ist schon etwas anderes im Gange: the thing is held" || help != "wait" {
		t.Errorf("said %q, %q", said, help)
	}
	if said, _ := SayProblem("en", p); said != "the thing is held" {
		t.Errorf("said %q", said)
	}
	// A newer server's reason.
	p.Reason = "unheard_of"
	if said, _ := SayProblem("de", p); !strings.HasSuffix(said, ": the thing is held") {
		t.Errorf("said %q", said)
	}
}

func TestAReasonSurvivesWhatIsWrappedAroundIt(t *testing.T) {
	e := Refuse("a", ReasonNoProject, TextOf("name", "hello")).At("repo")
	wrapped := Wrap("b", "", e, "the prompt")
	if r, values := ReasonOf(wrapped); r != ReasonNoProject || len(values) != 1 || values[0].Text != "hello" {
		t.Errorf("the reason is %q with %+v", r, values)
	}
	if r, _ := ReasonOf(Wrap("b", CodeInternal, e, "the prompt")); r != "" {
		t.Errorf("a problem of another kind has the reason %q", r)
	}
	if r, _ := ReasonOf(errors.Join(io.EOF, nil)); r != "" {
		t.Errorf("a foreign error has the reason %q", r)
	}
	back := ProblemOf(ProblemOf(wrapped).Err())
	if back.Reason != ReasonNoProject || len(back.Values) != 1 {
		t.Errorf("came back as %+v", back)
	}
}

func TestAValueCannotDriveAPageOrATerminal(t *testing.T) {
	driving := "\x1b]0;T\x07\u202e\u2066\xff\n" + strings.Repeat("é", 1000)
	v := TextOf("path", driving)
	if strings.ContainsFunc(v.Text, func(r rune) bool { return !unicode.IsPrint(r) }) || !strings.HasPrefix(v.Text, `\x1b]0;T\a\u202e\u2066`) {
		t.Errorf("the text is %q", v.Text[:40])
	}
	if n := len(v.Text); n > 4*maxValue {
		t.Errorf("the text has %d bytes", n)
	}
	e := Refuse("x", ReasonPathExists, v).At(driving)
	if strings.ContainsFunc(e.Msg, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("the sentence is %q", e.Msg)
	}
}

func TestAPathThatTheSentenceNamesIsSaidOnce(t *testing.T) {
	e := Refuse("computer.file", ReasonPathExists, TextOf("path", "a/b")).At("a/b")
	if e.Error() != `computer.file: "a/b" exists already` {
		t.Errorf("said %q", e)
	}
	e = Refuse("computer.repo", ReasonNoProject, TextOf("name", "b")).At("repo")
	if !strings.Contains(e.Error(), `repo there is no project "b"`) {
		t.Errorf("said %q", e)
	}
}

func TestARemedyThatAReasonDoesNotHaveIsSaidInEnglish(t *testing.T) {
	p := *ProblemOf(Refuse("x", ReasonPathChanged, TextOf("path", "a")).WithRemedy("wait 5 s"))
	if said, help := SayProblem("de", p); said != "„a“ wurde inzwischen geändert" || help != "wait 5 s" {
		t.Errorf("said %q, %q", said, help)
	}
}

func TestARefusalOfAFieldIsSaidWithTheFieldInEachLanguage(t *testing.T) {
	err := Under("layout", Under("windows[2]", RefuseField("title", ReasonFieldLong, TextOf("least", 1), TextOf("most", 20), TextOf("n", 30))))
	if err.Error() != "layout.windows[2].title must have 1 to 20 characters, not 30" || CodeOf(err) != CodeTooLarge {
		t.Errorf("refused as %s %q", CodeOf(err), err)
	}
	p := *ProblemOf(Wrap("api", "", err, ""))
	if said, _ := SayProblem("de", p); said != "layout.windows[2].title muss 1 bis 20 Zeichen haben, nicht 30" {
		t.Errorf("said %q", said)
	}
	// What came over the wire is said with its field once, in both languages.
	back := p.Err()
	if said, _ := SayProblem("de", *ProblemOf(back)); strings.Count(said, "title") != 1 {
		t.Errorf("said %q", said)
	}
	whole := RefuseField("$", ReasonFieldNoObject)
	if said, _ := SayProblem("de", *ProblemOf(whole)); whole.Msg != "must be an object" || said != "muss ein Objekt sein" {
		t.Errorf("said %q and %q", whole.Msg, said)
	}
}

func TestEveryMistakeOfADecodedValueHasAReason(t *testing.T) {
	for _, raw := range []string{
		`[]`, `{"a":1}`, `{"type":1}`, `{"type":"x"}`, `{"type":"prompt.submitted","type":"prompt.submitted"}`, `{`,
		`{"id":"a","type":"prompt.submitted","payload":{}}`, `{"type":"prompt.submitted","payload":[]}`,
	} {
		var d Draft
		if reason, _ := ReasonOf(DecodeStrict([]byte(raw), &d)); reason == "" {
			t.Errorf("%s is refused without a reason: %v", raw, DecodeStrict([]byte(raw), &d))
		}
	}
	for _, raw := range []string{`{"text":""}`, `{"text":5}`, `{"text":"a","repo":"-"}`, `{"text":"a","mode":"b"}`} {
		var p PromptSubmitted
		if reason, _ := ReasonOf(DecodeStrict([]byte(raw), &p)); reason == "" {
			t.Errorf("%s is refused without a reason: %v", raw, DecodeStrict([]byte(raw), &p))
		}
	}
}

package timeline

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"choiros/internal/choir"
	"choiros/internal/choir/choirtest"
	"choiros/internal/names"
)

var hole = regexp.MustCompile(`\{\w+\}`)

// holes returns the sorted placeholders of a text.
func holes(text string) []string {
	found := hole.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

func TestEachSentenceAboutEventsIsInEachLanguage(t *testing.T) {
	t.Parallel()
	english := sentences()[names.English]
	for _, l := range names.Languages() {
		if want, got := slices.Sorted(maps.Keys(english)), slices.Sorted(maps.Keys(sentences()[l])); !slices.Equal(want, got) {
			t.Errorf("%s has the keys %q, want %q", l, got, want)
		}
		for key, s := range sentences()[l] {
			for _, form := range []string{s.One, s.Other} {
				if want, got := holes(english[key].Other), holes(form); form == "" || !slices.Equal(want, got) {
					t.Errorf("%s %s: %q has the placeholders %q, want %q", l, key, form, got, want)
				}
			}
		}
	}
}

// words are the keys of closed lists: the words for their values, and the sentences that the value chooses.
var words = map[string][]string{
	"outcome":        {"done", "failed", "cancelled"},
	"budgetScope":    {"run", "task", "computer", "desktop"},
	"budgetLimit":    {"steps", "tokens", "time", "cost", "tasks", "calls"},
	"status":         {"ok", "needs_input", "failed"},
	"verify":         {"pass", "fail", "unknown"},
	"verdict":        {"accept", "revise", "abort"},
	"scope":          {"task", "run", "always"},
	"left":           {"file_too_large", "workspace_too_large", "too_many", "too_deep", "changing", "no_space", "unreadable", "removing"},
	"overlay":        {"comment", "proposal"},
	"overlaySettled": {"accepted", "rejected", "resolved", "reopened"},
	"terminalReason": {"exited", "closed", "rewind", "undo", "taken", "lost"},
}

// TestEverySentenceAboutEventsIsSaid reads the source: each key is said with the values that its sentence has,
// and no sentence is left over.
func TestEverySentenceAboutEventsIsSaid(t *testing.T) {
	t.Parallel()
	f, err := parser.ParseFile(token.NewFileSet(), "words.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	english := sentences()[names.English]
	said := map[string]bool{}
	say := func(key string, given []string) {
		slices.Sort(given)
		if s, ok := english[key]; !ok || given != nil && !slices.Equal(given, holes(s.Other)) {
			t.Errorf("%q is said with %q, and its sentence is %q", key, given, s.Other)
		}
		said[key] = true
	}
	text := func(e ast.Expr) string {
		lit, _ := e.(*ast.BasicLit)
		if lit == nil {
			return ""
		}
		s, _ := strconv.Unquote(lit.Value)
		return s
	}
	ast.Inspect(f, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch key := text(c.Args[0]); sel.Sel.Name {
		case "sentence":
			given := []string{}
			for i := 1; i < len(c.Args); i += 2 {
				given = append(given, "{"+text(c.Args[i])+"}")
			}
			if key != "" {
				say(key, given)
			}
		case "window":
			say(key, []string{"{app}"})
			say(key+"Title", []string{"{app}", "{text}"})
		case "term":
			if words[key] == nil {
				t.Errorf("there are no words of the list %q", key)
			}
		}
		return true
	})
	for list, values := range words {
		for _, v := range values {
			say(list+"."+v, nil)
		}
	}
	for key := range english {
		if !said[key] {
			t.Errorf("no event is said by %s", key)
		}
	}
}

// TestAnyEventIsSaidInEachLanguage: what is said in English is said in every language, by a sentence of that
// language, and nothing else is.
func TestAnyEventIsSaidInEachLanguage(t *testing.T) {
	t.Parallel()
	for _, info := range choir.Types() {
		t.Run(string(info.Type), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				raw, err := json.Marshal(choirtest.Payload(info).Draw(t, "payload"))
				if err != nil {
					t.Fatal(err)
				}
				e := &choir.Event{Type: info.Type, Payload: raw}
				english := Say(e)
				for _, l := range names.Languages()[1:] {
					said := SayIn(l, e)
					if (said == "") != (english == "") {
						t.Fatalf("%s says %q, English %q", l, said, english)
					}
					if _, key := sentences()[l][said]; key {
						t.Fatalf("%s says a key: %q", l, said)
					}
				}
			})
		})
	}
}

func TestAnEventInGerman(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]choir.Payload{
		"Auftrag: mach es":                                         choir.PromptSubmitted{Text: "mach\n  es"},
		"du hast ihn angehalten: ein Grund":                        choir.RunCancelRequested{Reason: "ein Grund"},
		"geschrieben: a.txt und 1 weitere":                         choir.FileWritten{Snapshot: choir.DigestOf(nil), Files: []choir.FileState{{Path: "a.txt", Kind: "dir"}, {Path: "b", Kind: "dir"}}},
		"zu Ereignis 7 zurückgegangen: 1 Pfad":                     choir.TimelineRewound{ToSeq: 7, Files: 1, Snapshot: choir.DigestOf(nil), Before: choir.DigestOf(nil)},
		"zu Ende: gescheitert; das Modell sagte, ungeprüft: Nein.": choir.RunFinished{Outcome: choir.OutcomeFailed, Said: "Nein."},
	} {
		raw, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := SayIn(names.German, &choir.Event{Type: p.EventType(), Payload: raw}); got != want {
			t.Errorf("%s: %q, want %q", p.EventType(), got, want)
		}
	}
	if got := BytesIn(names.German, 12_345); got != "12,3 kB" {
		t.Errorf("12345 bytes are %q", got)
	}
	if got := WhyLeft(names.German, choir.LeftTooDeep); !strings.Contains(got, "tief") {
		t.Errorf("too deep is %q", got)
	}
}

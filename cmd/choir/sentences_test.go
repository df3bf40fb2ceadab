package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/control/api"
	"choiros/internal/eval"
	"choiros/internal/eventstore"
	"choiros/internal/machineimage"
	"choiros/internal/names"
)

var placeholder = regexp.MustCompile(`\{\w+\}`)

// placeholders returns the sorted names in braces of a text.
func placeholders(text string) []string {
	found := placeholder.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

func TestEachSentenceIsInEachLanguage(t *testing.T) {
	t.Parallel()
	english := sentences()[names.English]
	if len(english) < 250 {
		t.Fatalf("there are only %d sentences", len(english))
	}
	for _, l := range names.Languages()[1:] {
		theirs := sentences()[l]
		if want, got := slices.Sorted(maps.Keys(english)), slices.Sorted(maps.Keys(theirs)); !slices.Equal(want, got) {
			t.Errorf("%s has the keys %q, want %q", l, got, want)
		}
		for key, e := range english {
			s := theirs[key]
			want := placeholders(e.Other)
			for _, form := range []string{e.One, s.One, s.Other} {
				if got := placeholders(form); !slices.Equal(got, want) {
					t.Errorf("%s %s: %q has the placeholders %q, want %q", l, key, form, got, want)
				}
			}
			if (e.One != e.Other) && !slices.Contains(want, "{n}") || s.One == "" || s.Other == "" {
				t.Errorf("%s %s has forms and no number n, or a form is empty", l, key)
			}
		}
	}
}

func TestThePlaceOfModelsIsCalledAsByTheControlPlane(t *testing.T) {
	t.Parallel()
	if got := sentences()[names.English]["told.modelsPlace"].Other; got != names.ModelsPlace {
		t.Errorf("the catalogue says %q, the control plane %q", got, names.ModelsPlace)
	}
}

// closedLists are the values that the words of each list are for, where they do not stand in the source of
// the commands.
var closedLists = map[string][]string{
	"answer":       list(choir.EffectApprove, choir.EffectRefuse, choir.EffectAgain),
	"change":       list(choir.ChangeAdded, choir.ChangeModified, choir.ChangeDeleted, choir.ChangeRenamed),
	"copy":         {"journal", "sqlite"},
	"egressOpened": list("rule", "key", "packages"),
	"egressWhy":    list(choir.EgressPolicy, choir.EgressTask, choir.EgressRule, choir.EgressUnclear, choir.EgressAddress, choir.EgressTLS, choir.EgressLimit, choir.EgressGate, choir.EgressHeld),
	"fileKind":     {"file", "dir", "symlink", "fifo"},
	"flag":         {"string", "int", "uint", "duration", "stringArray"},
	"image":        list(machineimage.StepKernel, machineimage.StepPackages, machineimage.StepRoot),
	"mark":         list(eventstore.MarkPrompt, eventstore.MarkAnswer, eventstore.MarkTask, eventstore.MarkCall, eventstore.MarkFiles, eventstore.MarkOutside, eventstore.MarkCheckpoint, eventstore.MarkRewind, eventstore.MarkUndo, eventstore.MarkTake, eventstore.MarkFork, eventstore.MarkImport, eventstore.MarkRepo, eventstore.MarkTheme, eventstore.MarkCaches, eventstore.MarkWindows, eventstore.MarkDocument),
	"model":        {"tools", "streaming", "images", "thinking"},
	"modelLacks":   {"tools", "streaming", "images", "thinking"},
	"runState":     list(eventstore.RunPlanning, eventstore.RunRunning, eventstore.RunWaiting, eventstore.RunDone, eventstore.RunFailed, eventstore.RunCancelled),
	"scope":        list(choir.EgressForTask, choir.EgressForRun, choir.EgressAlways),
	"setting":      {"default"},
	"status":       list(choir.StatusOK, choir.StatusNeedsInput, choir.StatusFailed),
	"taskState":    list(eventstore.TaskDispatched, eventstore.TaskStarted, eventstore.TaskHeld, eventstore.TaskReturned),
	"verdict":      list(eval.Solved, eval.Failed, eval.Invalid),
	"verify":       list(choir.VerifyPass, choir.VerifyFail, choir.VerifyUnknown),
	"work":         list(workspace.WorkLooking, workspace.WorkRestoring, workspace.WorkWaiting, workspace.WorkRemoving),
}

// list returns the values of a closed list as texts.
func list[S ~string](values ...S) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

// TestLabelsAreAligned: what stands behind labels begins in one column, in every language.
func TestLabelsAreAligned(t *testing.T) {
	t.Parallel()
	for locale, want := range map[string][]string{
		"C":  {"task   ", "checks ", "hole    ", "repaired", "would end", "left     "},
		"de": {"Aufgabe ", "Prüfung ", "Lücke     ", "repariert ", "endet      ", "bleibt     "},
	} {
		a := speaking(locale)
		got := []string{a.label("approval", "task"), a.label("approval", "verified"), a.label("log", "hole"), a.label("log", "repaired"), a.label("change", "wouldEnd"), a.label("change", "left")}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", locale, got, want)
		}
	}
	if got := speaking("de").label("runState", "unheard of"); !strings.HasPrefix(got, "unheard of") {
		t.Errorf("a value without a word is said as %q", got)
	}
}

// TestWhatTheControlPlaneGivesAsDataIsSaidInTheLanguageOfThePerson: nothing of a title, subject or reason is read as
// part of the sentence.
func TestWhatTheControlPlaneGivesAsDataIsSaidInTheLanguageOfThePerson(t *testing.T) {
	t.Parallel()
	made := func(n int, failed string) choir.AssociateResult {
		return choir.AssociateResult{Summary: "English", Committed: &choir.Committed{Commits: n, Subject: "made 1 commit: {n}", Failed: failed}}
	}
	live := api.Demo{Models: &api.ModelState{Connected: true, Director: "a/m", Associate: "b/m", Priceless: []string{"b/m"}}}
	for want, got := range map[string]func(*app) string{
		"1 Commit angelegt: made 1 commit: {n}":                                                func(a *app) string { return string(a.checkpointSaid(made(1, ""))) },
		"3 Commits angelegt: made 1 commit: {n}. Git konnte nicht alles eintragen: index.lock": func(a *app) string { return string(a.checkpointSaid(made(3, "index.lock"))) },
		"nichts einzutragen; der Arbeitsbereich ist als Schnappschuss aufbewahrt":              func(a *app) string { return string(a.checkpointSaid(made(0, ""))) },
		"English":                    func(a *app) string { return string(a.checkpointSaid(choir.AssociateResult{Summary: "English"})) }, // of an event from before
		"Dies ist eine Aufzeichnung": func(a *app) string { said, _, _ := strings.Cut(a.demoNotice(api.Demo{}), ":"); return said },
		"Die Worte kommen vom eingerichteten Modell: Der Director benutzt a/m, der Associate b/m. ": func(a *app) string {
			said := a.demoNotice(live)
			at := strings.Index(said, "b/m. ")
			if at < 0 || !strings.Contains(said[at+5:], "b/m") {
				return said
			}
			return said[:at+5]
		},
	} {
		if said := got(speaking("de")); said != want {
			t.Errorf("it says %q, want %q", said, want)
		}
		if want == "English" {
			continue
		}
		if said := got(speaking("C")); said == want {
			t.Errorf("in English it says %q too", said)
		}
	}
}

// commandFiles returns the parsed source of the commands, without tests.
func commandFiles(t *testing.T) map[string]*ast.File {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out[path] = f
	}
	return out
}

// literal returns the text of a string literal; false for another expression.
func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// called returns the name of a called function or method, and its string literals by their place.
func called(c *ast.CallExpr) (name string, texts map[int]string) {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	texts = map[int]string{}
	for i, arg := range c.Args {
		if text, ok := literal(arg); ok {
			texts[i] = text
		}
	}
	return name, texts
}

// saying are the functions that take a key and pairs of names and values, by the place of the key.
var saying = map[string]int{"sentence": 0, "sentenceIn": 1, "say": 0, "sayAside": 0, "warn": 0, "sayNone": 1}

// usedSentences is what the source of the commands says of the catalogue.
type usedSentences struct {
	t    *testing.T
	keys map[string]bool
}

// TestEverySentenceIsSaidWithItsValues reads the source of the commands: each key that it says must be in
// the catalogue with the placeholders that get values there, and each key of the catalogue must be said.
func TestEverySentenceIsSaidWithItsValues(t *testing.T) {
	t.Parallel()
	u := usedSentences{t, map[string]bool{}}
	for path, f := range commandFiles(t) {
		for _, decl := range f.Decls {
			u.readFunction(path, decl)
		}
		u.readWords(path, f)
	}
	for l, values := range closedLists {
		for _, v := range values {
			u.use("closedLists", "term."+l+"."+v)
		}
	}
	for key := range toldSentences(t) {
		u.keys[key] = true
	}
	for key := range sentences()[names.English] {
		if !u.keys[key] {
			t.Errorf("no command says %s", key)
		}
	}
}

// use notes that a key is said. It is an error if the catalogue has no such key.
func (u *usedSentences) use(path, key string) {
	if _, ok := sentences()[names.English][key]; !ok {
		u.t.Errorf("%s says %s, which is not in the catalogue", path, key)
	}
	u.keys[key] = true
}

// readFunction checks the sentences that one declaration says. A key that is not a literal is a variable
// named key, which gets literals in the same declaration, or is an argument.
func (u *usedSentences) readFunction(path string, decl ast.Decl) {
	var keys []string
	ast.Inspect(decl, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for i, to := range a.Lhs {
				if name, ok := to.(*ast.Ident); ok && name.Name == "key" && i < len(a.Rhs) {
					if text, ok := literal(a.Rhs[i]); ok {
						keys = append(keys, text)
						u.use(path, text)
					}
				}
			}
		}
		return true
	})
	ast.Inspect(decl, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name, texts := called(c)
		if name == "section" || name == "showState" {
			u.use(path, texts[map[string]int{"section": 0, "showState": 1}[name]])
		}
		at, ok := saying[name]
		if _, method := c.Fun.(*ast.SelectorExpr); !ok || !method && name != "sentenceIn" || len(c.Args) <= at {
			return true
		}
		said := keys
		if text, ok := texts[at]; ok {
			u.use(path, text)
			said = []string{text}
		} else if id, ok := c.Args[at].(*ast.Ident); (!ok || id.Name != "key") && path != "sentences.go" {
			u.t.Errorf("%s says a sentence by a key that is neither a literal nor the variable key", path)
		}
		var given []string
		for i := at + 1; i < len(c.Args); i += 2 {
			given = append(given, "{"+texts[i]+"}")
		}
		slices.Sort(given)
		for _, key := range said {
			if want := placeholders(sentences()[names.English][key].Other); path != "sentences.go" && !slices.Equal(given, want) {
				u.t.Errorf("%s says %s with %q, and it has %q", path, key, given, want)
			}
		}
		return true
	})
}

// readWords notes the words of lists, and the numbers of things, that a file says with literals.
func (u *usedSentences) readWords(path string, f *ast.File) {
	var lists, values []string
	ast.Inspect(f, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch name, texts := called(c); name {
		case "count":
			u.use(path, "count."+texts[0])
		case "term", "label":
			if texts[0] != "" && texts[1] != "" {
				u.use(path, "term."+texts[0]+"."+texts[1])
			} else if texts[0] != "" {
				lists = append(lists, texts[0])
			}
		case "line":
			values = append(values, texts[0])
		case "printChange":
			if texts[0] != "" {
				u.use(path, "term.change."+texts[0])
			}
		}
		return true
	})
	for _, value := range values {
		found := false
		for _, l := range lists {
			if _, ok := sentences()[names.English]["term."+l+"."+value]; ok {
				u.keys["term."+l+"."+value], found = true, true
			}
		}
		if !found {
			u.t.Errorf("%s says %q, which no list of %q has", path, value, lists)
		}
	}
}

// twoWords matches text that is likely meant for people.
var twoWords = regexp.MustCompile(`\pL{2,}[,;:.]? \pL{2,}`)

// oneWord matches a word in what is printed.
var oneWord = regexp.MustCompile(`\pL{2,}`)

// verbOfFormat matches a verb of a format.
var verbOfFormat = regexp.MustCompile(`%[-+# 0]*[\d*]*(\.\d+)?[a-zA-Z]`)

// notForPeople are the functions whose texts are no sentences of the CLI: errors, which have catalogues of
// their own (internal/choir/problems.*.json), and the log of the server.
var notForPeople = []string{"E", "Invalid", "Wrap", "Refuse", "RefuseField", "WithRemedy", "Errorf", "Info", "Warn", "Error", "MustCompile"}

// explainedFiles are files with texts that are no sentences of the CLI, and why. What they print is looked at
// all the same.
var explainedFiles = map[string]string{
	"report.go":    "a report is for a maintainer, who reads English",
	"eval.go":      "the outcomes of tasks stand in a report, which programs compare",
	"evalcheck.go": "as eval.go, and commands for a shell",
	"evalrun.go":   "as eval.go, and commands for a shell",
	"flags.go":     "words of the library that reads the command line",
}

// explained are texts with words, and why they stand in the source.
var explained = map[string]string{
	"\n[runtime]\nmode = \"microvm\"\n\n[microvm]\nkernel = %q\nrootfs = %q\n": "lines of the configuration",
	"git pull ":                        "a command",
	"git am ":                          "a command",
	"show EVENT":                       "the usage line of a verb",
	"cat EVENT FILE":                   "the usage line of a verb",
	"ls EVENT [FOLDER]":                "the usage line of a verb",
	"exit code %d":                     "an error that is never printed",
	"invalid argument":                 "words of the command library",
	"\n  choir diff --with experiment": "an example",
	"import sys; print(sys.prefix); print(sys.base_prefix)":         "a program",
	"import pytest, sys; print(sys.prefix); print(sys.base_prefix)": "a program",
	"traces of ": "the name of a service in the log",
	"choir up --record writes down what one model service answers: start choir without it to connect another": "an error of the shell's page",
	"no choir is running here that would rebuild it from the journal; to do that: choir log --repair":         "the remedy of an error",
	"apt-get install -y ": "a command",
	"nodejs npm":          "names of packages",
	"test -z \"$(git status --porcelain)\" && make --silent test && printf 'b a b c\\n' | sh bin/tally --top 1":                                              "a command",
	"{\"kind\":\"run\",\"instruction\":\"Try the change.\",\"repo\":%q,\"verify_profile\":{\"mode\":\"none\"},\"commands\":[{\"argv\":[\"sh\",\"-c\",%q]}]}": "a task",
}

// TestSentencesStandInTheCatalogue finds texts for people in the source of the commands.
func TestSentencesStandInTheCatalogue(t *testing.T) {
	t.Parallel()
	for path, f := range commandFiles(t) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				n.Tag = nil
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && (key.Name == "Example" || key.Name == "Use") {
					return false
				}
			case *ast.CallExpr:
				name, texts := called(n)
				if slices.Contains(notForPeople, name) {
					return false
				}
				if name != "printf" && name != "errorf" {
					return true
				}
				for _, text := range texts {
					if words := strings.ReplaceAll(verbOfFormat.ReplaceAllString(text, ""), "choir", ""); oneWord.MatchString(words) && explained[text] == "" {
						t.Errorf("%s prints %q: it belongs into sentences.*.json", path, text)
					}
				}
			case *ast.BasicLit:
				if text, ok := literal(n); ok && twoWords.MatchString(text) && explained[text] == "" && explainedFiles[path] == "" {
					t.Errorf("%s has the text %q: it belongs into sentences.*.json or help.*.json", path, text)
				}
			}
			return true
		})
	}
}

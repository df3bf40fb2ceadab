package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"choiros/internal/names"
)

// speaking returns an app whose person speaks the language of a locale.
func speaking(locale string) *app {
	var out strings.Builder
	return &app{printer: newPrinter(newConsole(&out, &out), func(name string) string {
		if name == "LC_ALL" {
			return locale
		}
		return ""
	})}
}

// everyVerb calls visit with choir and every command below it.
func everyVerb(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		everyVerb(sub, visit)
	}
}

// ofTheLibrary reports whether a command is one of the library's, whose long help and flags are its own.
func ofTheLibrary(verb string) bool { return strings.HasPrefix(verb, "completion ") }

func TestEveryVerbHasHelpInEachLanguage(t *testing.T) {
	t.Parallel()
	for _, l := range names.Languages() {
		root := newProgram(speaking(string(l)))
		unused := maps.Clone(helps()[l])
		everyVerb(root, func(c *cobra.Command) {
			verb := verbOf(c)
			h, ok := helps()[l][verb]
			if !ok || h.Short == "" {
				t.Errorf("%s: choir %s has no help", l, verb)
			}
			delete(unused, verb)
			flags := map[string]bool{}
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if flags[f.Name] = true; f.Name != "help" && h.Flags[f.Name] == "" {
					t.Errorf("%s: --%s of choir %s has no meaning", l, f.Name, verb)
				}
			})
			for name := range h.Flags {
				if !flags[name] {
					t.Errorf("%s: choir %s has no flag --%s", l, verb, name)
				}
			}
			if required, _ := argumentsOf(c); !ofTheLibrary(verb) {
				for _, name := range required {
					if h.Arguments[name] == "" {
						t.Errorf("%s: the argument %s of choir %s has no meaning", l, name, verb)
					}
				}
			}
			if text := c.Short + c.Long + c.Example + strings.Join(slices.Sorted(maps.Values(c.Annotations)), ""); placeholder.MatchString(strings.ReplaceAll(text, "{\"", "")) {
				t.Errorf("%s: the help of choir %s has a placeholder that nothing fills: %s", l, verb, text)
			}
		})
		for verb := range unused {
			t.Errorf("%s: there is no verb choir %s", l, verb)
		}
	}
}

func TestTheHelpIsTheSameInEachLanguage(t *testing.T) {
	t.Parallel()
	english := helps()[names.English]
	same := func(what string, a, b map[string]string) {
		if x, y := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)); !slices.Equal(x, y) {
			t.Errorf("%s: %q in one language, %q in another", what, x, y)
		}
		for key := range a {
			if x, y := placeholders(a[key]), placeholders(b[key]); !slices.Equal(x, y) {
				t.Errorf("%s %s has the placeholders %q in one language, %q in another", what, key, x, y)
			}
		}
	}
	for _, l := range names.Languages()[1:] {
		for verb, e := range english {
			h := helps()[l][verb]
			same(verb+" flags", e.Flags, h.Flags)
			same(verb+" arguments", e.Arguments, h.Arguments)
			same(verb+" notes", e.Notes, h.Notes)
			if (len(e.Long) == 0) != (len(h.Long) == 0) || !slices.Equal(placeholders(strings.Join(e.Long, "")), placeholders(strings.Join(h.Long, ""))) {
				t.Errorf("the long help of choir %s differs in what it has", verb)
			}
		}
	}
}

// TestTheHelpIsWholeInItsLanguage prints the help of every verb in German, and holds the English flags
// against the flag library's.
func TestTheHelpIsWholeInItsLanguage(t *testing.T) {
	t.Parallel()
	everyVerb(newProgram(speaking("de_DE.UTF-8")), func(c *cobra.Command) {
		text := c.UsageString()
		if !ofTheLibrary(verbOf(c)) {
			text += c.Long
		}
		for _, english := range []string{"Usage", "Flags", "Available", "Examples", "(default", "help for", " the ", " and ", "[flags]", "[command]", "string", "duration"} {
			if strings.Contains(text, english) {
				t.Errorf("the German help of choir %s has %q:\n%s", verbOf(c), english, text)
			}
		}
	})
	a := speaking("C")
	everyVerb(newProgram(a), func(c *cobra.Command) {
		if got, want := a.flagUsages(c.LocalFlags()), strings.TrimRight(c.LocalFlags().FlagUsages(), " \n"); got != want {
			t.Errorf("the flags of choir %s are %q, want %q", verbOf(c), got, want)
		}
	})
}

// TestHelpForAProgramIsEnglish: what a program reads, such as the meaning of an argument in an error, is
// English whatever language its user speaks.
func TestHelpForAProgramIsEnglish(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	a := speaking("de_DE.UTF-8")
	a.console = newConsole(&out, discard{})
	if code := execute(t.Context(), []string{"prompt", "--json"}, a); code != 2 || !strings.Contains(out.String(), helps()[names.English]["prompt"].Arguments["TEXT"]) {
		t.Errorf("it ends with %d: %s", code, out.String())
	}
}

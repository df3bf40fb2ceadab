package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"choiros/internal/choir"
)

// said runs a command line that must be refused as wrongly used, and returns what it
// says of that.
func said(t *testing.T, args ...string) string {
	t.Helper()
	var out, errOut strings.Builder
	a := &app{printer: newPrinter(newConsole(&out, &errOut), func(string) string { return "" })}
	if code := execute(t.Context(), append([]string{"--data", t.TempDir()}, args...), a); code != 2 {
		t.Errorf("choir %q ends with %d: %s", args, code, errOut.String())
	}
	for _, library := range []string{"unknown", "flag needs", "invalid argument", "strconv", "shorthand", "bad flag"} {
		if strings.Contains(errOut.String(), library) {
			t.Errorf("choir %q says it in the words of a library: %s", args, errOut.String())
		}
	}
	return errOut.String()
}

// TestEveryVerbSaysWhichFlagIsWrong gives every verb a flag that it does not have, one
// that is misspelt, and each of its flags without its value and with one of another
// kind.
func TestEveryVerbSaysWhichFlagIsWrong(t *testing.T) {
	t.Parallel()
	var all func(c *cobra.Command)
	all = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			all(sub)
		}
		path := c.CommandPath()
		verb := strings.Fields(path)[1:]
		expect := func(pattern string, flags ...string) {
			t.Helper()
			pattern = "^choir: " + strings.NewReplacer("PATH", regexp.QuoteMeta(path), "EXAMPLE", "for example: .*"+path+".*").Replace(pattern) + "\n$"
			if got := said(t, append(verb[:len(verb):len(verb)], flags...)...); !regexp.MustCompile(pattern).MatchString(got) {
				t.Errorf("%s %q says %q, not %s", path, flags, got, pattern)
			}
		}
		expect("--xyzzyxyzzy is no flag of PATH\n  its flags are --.*--json.*; EXAMPLE", "--xyzzyxyzzy")
		expect("--jsno is no flag of PATH\n  did you mean --json\\? EXAMPLE", "--jsno")
		expect("-json is no flag of PATH\n  did you mean --json\\? EXAMPLE", "-json")
		expect("--=1 is no flag of PATH: .*\n  EXAMPLE", "--=1")
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal == "" {
				expect("--"+f.Name+" of PATH is missing its value: .+\n  EXAMPLE", "--"+f.Name)
			}
			if kind := f.Value.Type(); kind != "string" && kind != "stringArray" { // which take every text
				expect("--"+f.Name+" of PATH must be (true or false|a whole number.*|a time such as 90m), and \"q\" is not: .+\n  EXAMPLE", "--"+f.Name+"=q")
			}
		})
	}
	all(newRootCommand(newApp()))
}

func TestAVerbThatIsNotThereNamesTheNearest(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"choir: \"rewnd\" is no verb of choir\n  did you mean choir rewind? choir --help lists all\n":                                                                                {"rewnd"},
		"choir: \"ad\" is no verb of choir repo\n  did you mean choir repo add? choir repo --help lists all\n":                                                                       {"repo", "ad"},
		"choir: \"wholly-other\" is no verb of choir\n  choir --help lists them\n":                                                                                                   {"wholly-other"},
		"choir: \"what \"is\" this\" is no verb of choir\n  choir --help lists them\n":                                                                                               {"what \"is\" this"},
		"choir: \"list\" is no verb of choir run, nor the id of a run\n  choir run lists the runs; then: choir run ID shows one, and choir run ID --cancel stops it\n":               {"run", "list"},
		"choir: \"stop\" is no verb of choir run, nor the id of a run\n  choir run lists the runs; then: choir run ID shows one, and choir run ID --cancel stops it\n":               {"run", "stop", "01a218a3-9184-7811-b1d0-2c3f7e2cb01b"},
		"choir: choir run takes one run, and \"stop\" is one too many\n  for example: choir run ID --answer \"yes, both\"\n":                                                         {"run", "01a218a3-9184-7811-b1d0-2c3f7e2cb01b", "stop"},
		"choir: --verify cannot be given to choir log together with --follow\n  give one of --follow, --verify, --repair, --restore-from-cluster; for example: choir log --follow\n": {"log", "--verify", "--follow"},
	} {
		if got := said(t, args...); got != want {
			t.Errorf("choir %q says %q, want %q", args, got, want)
		}
	}
}

func TestHelpSaysWhichVerbsEndTerminals(t *testing.T) {
	t.Parallel()
	root := newRootCommand(newApp())
	for _, verb := range []string{"undo", "rewind", "take"} {
		c, _, err := root.Find([]string{verb})
		if err != nil {
			t.Fatal(err)
		}
		if words := strings.Join(strings.Fields(c.Long), " "); !strings.Contains(strings.ToLower(words), "open terminals end, with what runs in them.") {
			t.Errorf("choir %s --help says nothing of terminals:\n%s", verb, c.Long)
		}
	}
}

// TestASentenceIsSaidWithoutItsField: choir said "choir: after there is no run x to follow up".
func TestASentenceIsSaidWithoutItsField(t *testing.T) {
	t.Parallel()
	var out, said strings.Builder
	a := &app{printer: newPrinter(newConsole(&out, &said), func(string) string { return "" })}
	a.report(choir.Refuse("computer.prompt", choir.ReasonNoRunToFollow, choir.TextOf("run", "x")).At("after"))
	if want := "choir: there is no run x to follow up\n  choir run lists the runs\n"; said.String() != want {
		t.Errorf("choir says %q, want %q", said.String(), want)
	}
}

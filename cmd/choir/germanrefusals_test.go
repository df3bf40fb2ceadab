package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// saidInGerman returns what a command says to a person who speaks German, and its exit code.
func saidInGerman(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out, errOut strings.Builder
	a := &app{printer: newPrinter(newConsole(&out, &errOut), func(name string) string {
		return map[string]string{"LC_ALL": "de_DE.UTF-8"}[name]
	})}
	code := execute(t.Context(), append([]string{"--data", t.TempDir()}, args...), a)
	return errOut.String(), code
}

func TestMistakesOnTheCommandLineAreSaidInGerman(t *testing.T) {
	t.Parallel()
	id := "01a218a3-9184-7811-b1d0-2c3f7e2cb01b"
	for want, args := range map[string][]string{
		"choir: „rewnd“ ist kein Verb von choir\n  gemeint ist vielleicht choir rewind; choir --help führt alle auf\n": {"rewnd"},
		"choir: „wholly-other“ ist kein Verb von choir\n  choir --help führt sie auf\n":                                {"wholly-other"},
		"choir: --folow ist kein Schalter von choir log\n  gemeint ist vielleicht --follow; zum Beispiel: ":            {"log", "--folow"},
		"choir: --verify und --follow gehen bei choir log nicht zusammen\n  eines von --follow, --verify":              {"log", "--verify", "--follow"},
		"choir: --name fehlt: ": {"fork"},
		"choir: ID: welcher Lauf gemeint ist, fehlt\n  choir run führt sie auf":                                    {"run", "--cancel"},
		"choir: choir run nimmt einen Lauf, und „stop“ ist einer zu viel\n  zum Beispiel: ":                        {"run", id, "stop"},
		"choir: EVENT: „gestern“ ist nicht die Nummer eines Ereignisses\n":                                         {"rewind", "gestern"},
		"choir: MODE: „alles“ ist weder none noch allowlist noch git+pkg\n":                                        {"egress", "mode", "alles"},
		"choir: HOST: „https://x.test/a“ ist die Adresse einer Seite und nicht nur ein Host\n  x.test schreiben\n": {"egress", "grant", "https://x.test/a"},
		"choir: --for: „ever“ ist weder task noch run noch always\n":                                               {"egress", "grant", "x.test", "--for", "ever"},
		"choir: HOST: „“ ist weder ein Hostname in Kleinbuchstaben":                                                {"egress", "grant", ""},
		"choir: HOST: „" + strings.Repeat("a", 254) + "“ ist weder ein Hostname in Kleinbuchstaben":                {"egress", "grant", strings.Repeat("a", 254) + ":80"},
		"choir: --expires muss eine Dauer von höchstens 365 Tagen sein\n":                                          {"egress", "grant", "x.test", "--expires", "999999h"},
		"choir: --host muss den Host nennen, für den der Schlüssel ist\n":                                          {"vault", "set", "github"},
	} {
		if said, code := saidInGerman(t, args...); code != 2 || !strings.HasPrefix(said, want) {
			t.Errorf("choir %q ends with %d and says %q, want %q", args, code, said, want)
		}
	}
}

func TestAWrongConfigurationIsSaidInGerman(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"[limits]\nterminals = 0\n":                                            "choir: choir.toml:2: limits.terminals muss 1 bis 1000 sein, nicht 0\n",
		"[limits]\nterminal = 3\n":                                             "choir: choir.toml:2: limits.terminal ist kein bekannter Schlüssel\n  gemeint ist vielleicht terminals; bekannt sind dort ",
		"[limits]\nterminals = \"a\"\n":                                        "choir: choir.toml.limits.terminals muss eine ganze Zahl sein (Zeile 2)\n",
		"[runtime]\nmode = \"docker\"\n":                                       "choir: choir.toml:2: runtime.mode muss eines von local, gvisor, container, microvm, sprites sein, nicht „docker“\n",
		"[egress]\nmode = \"allowlist\"\n[[egress.allowlist]]\nhost = \"A\"\n": "choir: choir.toml:4: egress.allowlist[0].host: „A“ ist weder ein Hostname",
		"[[approve]]\ntool = \"hammer\"\n":                                     "choir: choir.toml:2: approve[0].tool: „hammer“ ist kein Werkzeug\n  die Werkzeuge sind ",
	} {
		path := filepath.Join(t.TempDir(), "choir.toml")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if said, code := saidInGerman(t, "up", "--config", path); code != 2 || !strings.HasPrefix(said, want) {
			t.Errorf("%s ends with %d and says %q, want %q", content, code, said, want)
		}
	}
}

func TestAWrappedRefusalKeepsItsReasonInGerman(t *testing.T) {
	t.Parallel()
	var errOut strings.Builder
	a := &app{printer: newPrinter(newConsole(io.Discard, &errOut), func(string) string { return "de" })}
	a.report(choir.Wrap("eval", "", choir.Wrap("", "", choir.Refuse("", choir.ReasonNoModel), "the run"), "task %s", "a"))
	if want := "choir: kein Modell ist verbunden\n  "; !strings.HasPrefix(errOut.String(), want) {
		t.Errorf("says %q, want %q", errOut.String(), want)
	}
}

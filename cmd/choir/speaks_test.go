package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/eventstore"
	"choiros/internal/names"
)

// TestVerbsSpeakThePersonsLanguage has a person who speaks German use the main verbs of a real computer: what
// each prints has what is expected, and no sentence of the English catalogue.
func TestVerbsSpeakThePersonsLanguage(t *testing.T) {
	m := newMachine(t, "")
	m.env = []string{"LC_ALL=de_DE.UTF-8"}
	upInGerman(m)
	english := englishSentences()
	expect := func(code int, want string, args ...string) {
		t.Helper()
		r := m.run(args...)
		said := r.out + r.errOut
		if !regexp.MustCompile("(?m)"+want).MatchString(said) || r.code != code {
			t.Errorf("choir %q ends with %d and says\n%s\nwant %d and %s", args, r.code, said, code, want)
		}
		for line := range strings.Lines(said) {
			if text := strings.TrimSpace(line); english.MatchString(text) {
				t.Errorf("choir %q says in English: %s", args, text)
			}
		}
	}
	expect(0, `^Noch gab es keinen Auftrag\. `, "run")
	expect(0, `^Es gibt noch kein Projekt\. `, "repo", "list")
	expect(0, `^Es gibt keinen Zeitpunkt`, "timeline")
	expect(0, `^Nichts wartet auf deine Freigabe\.$`, "approvals")
	expect(0, `^Der Papierkorb ist leer\.$`, "trash")
	expect(0, `^Der Tresor ist leer\. `, "vault", "list")
	expect(0, `^Gerade führt keine Aufgabe einen Befehl aus\.$`, "run", "commands")
	expect(0, `^proj ist da: \d+ Dateien und die Geschichte in git, .+ kB\. `, "repo", "add", repoOf(t, "proj", 3), "--name", "proj")
	expect(0, `^1 Commit angelegt: eins$`, "checkpoint", "-m", "eins")
	expect(0, `^nichts einzutragen; `, "checkpoint", "-m", "zwei")
	expect(0, `(?s)^Dies ist eine Aufzeichnung: .*^ +\d+  Auftrag: tally.*^ +\d+  Werkzeug edit_file bin/tally$.*^ +\d+  Urteil: angenommen, .*^ +\d+  zu Ende: fertig$.*^Kosten 0,0000 \$: 6 Modellaufrufe, .*^Ereignisse  \d+ bis \d+$.*^geprüft     das Programm`, "demo")
	var runs []eventstore.Run
	if err := json.Unmarshal([]byte(m.must("run", "--json")), &runs); err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	run := string(runs[0].ID)
	expect(0, `^\S+  fertig       +0,0000 \$  tally`, "run")
	expect(0, `(?s)^Zustand    fertig$.*^Aufgabe    \S+  Ergebnis: erledigt  .*^Verbrauch  6 Aufrufe, `, "run", run)
	expect(0, `^Der Lauf \S+ war schon zu Ende: nichts wurde angehalten; er ist fertig\. Kosten`, "run", run, "--cancel")
	expect(0, `^tally +10 Dateien  `, "repo", "list")
	expect(0, `(?s) Auftrag    Auftrag: tally.* Sicherung  Sicherungspunkt: eins`, "timeline")
	expect(0, `^Ereignis 9 von \d+, `, "timeline", "show", "9")
	expect(0, `^ +\d+  \d\d:\d\d:\d\d  Projekt tally hinzugefügt: 10 Dateien$`, "diff", "12", "24")
	expect(0, ` prompt\.submitted +Auftrag: tally`, "log")
	expect(0, `^Ordner 0`, "timeline", "ls", "20")
	expect(0, `^\S+ +\d+ Ereignisse  My computer$`, "computers")
	expect(0, `(?s)^Isolation: .*^ok    seccomp  +ein Filter mit \d+ Regeln gilt$.*^(ok|--)    disk .*^ok    egress  +Programme in den Sandboxen erreichen keinen Host im Netz.*^Einstellungen$.*\(Vorgabe\)$`, "doctor")
	expect(0, `^Das Protokoll ist heil: `, "log", "--verify")
	expect(0, `^[1-9]\d* Pfade würden sich ändern; nichts wurde angerührt\.$`, "undo", run, "--dry-run")
	expect(0, `(?s)^gelöscht    workspace/.*^Es würden sich ändern: \d+ Pfade, `, "rewind", "18", "--dry-run")
	expect(0, `^Zurück beim Ereignis 18: \d+ Pfade geändert\. Zurücknehmen mit: choir rewind \d+$`, "rewind", "18")
	expect(0, `^zwei beginnt nach dem Ereignis \d+\. Zu verwenden mit: --computer "zwei"$`, "fork", "--name", "zwei")
	expect(0, `^Die Dateien beider sind gleich\.$`, "diff", "--with", "zwei")
	expect(0, `^0 Pfade würden sich ändern; nichts wurde angerührt\.$`, "take", "--from", "zwei", "--dry-run")
	file := filepath.Join(t.TempDir(), "all.choir")
	expect(0, ` ist geschrieben: \d+,?\d* MB, der Computer bis zum Ereignis \d+\. `, "export", file)
	expect(0, `^drei ist da, bis zum Ereignis \d+\. `, "import", file, "--name", "drei")
	expect(0, `^\d+ Objekte mit .* würden entfernt, `, "timeline", "gc", "--dry-run")
	expect(0, `^Regel: none\.\nKeine Aufgabe fragt nach einem Host, `, "egress")
	expect(0, `^In Kraft: egress\.mode allowlist mit 0 Hosts der Liste, und 0 Regeln von \[\[approve\]\]; 0 Verbindungen getrennt\.$`, "egress", "mode", "allowlist")
	expect(0, `^example\.com:443 ist erlaubt für immer, bis `, "egress", "grant", "example.com", "--for", "always", "--expires", "1h")
	expect(0, `^erlaubt +example\.com:443  für immer, bis `, "egress")
	expect(0, `^1 Erlaubnis von example\.com:443 widerrufen\.$`, "egress", "revoke", "example.com")
	expect(5, `^choir: kein Modell ist verbunden`, "model", "test")
	expect(0, `(?s)^Aufruf:\n  choir \[Befehl\]$.*^  rewind      Mit dem ganzen Computer`, "help")
	expect(0, `(?s)^Aufruf:\n  choir rewind \[EVENT\] \[Schalter\]$.*^Schalter aller Befehle:$`, "help", "rewind")
}

// upInGerman starts choir and reads what it says to a person who speaks German.
func upInGerman(m *machine) {
	m.t.Helper()
	cmd := m.command(context.WithoutCancel(m.t.Context()), "up")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // else it has ended
		if err := cmd.Wait(); err != nil {
			m.t.Error(err)
		}
	})
	said := ""
	for lines := bufio.NewScanner(out); !strings.Contains(said, "Anhalten mit Strg+C.") && lines.Scan(); {
		said += lines.Text() + "\n"
	}
	for _, want := range []string{"ChoirOS dev läuft auf http", "Diesen Link innerhalb von 15 Minuten öffnen", "/login#", "Kein Modell ist verbunden: ", "Anhalten mit Strg+C."} {
		if !strings.Contains(said, want) {
			m.t.Fatalf("choir up lacks %q:\n%s", want, said)
		}
	}
}

// englishSentences returns an expression for the lines of the English catalogue that have at least twelve
// letters and are said otherwise in German.
func englishSentences() *regexp.Regexp {
	quoted := regexp.MustCompile(`\\\{\w+\\\}`) // a placeholder in an expression
	var all []string
	for key, s := range sentences()[names.English] {
		for _, form := range []string{s.One, s.Other} {
			if len(placeholder.ReplaceAllString(form, "")) < 12 || form == sentences()[names.German][key].Other {
				continue
			}
			for _, line := range strings.Split(form, "\n") {
				all = append(all, quoted.ReplaceAllString(regexp.QuoteMeta(line), ".+"))
			}
		}
	}
	return regexp.MustCompile("^(" + strings.Join(all, "|") + ")$")
}

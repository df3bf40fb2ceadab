package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"choiros/internal/eventstore"
)

// computers are the folders of the machine's computers.
func (m *machine) computers() []string {
	m.t.Helper()
	found, err := filepath.Glob(filepath.Join(m.data, "computers", "*"))
	if err != nil || len(found) == 0 {
		m.t.Fatal("no computer", err)
	}
	return found
}

// sql changes the SQLite copy of the first computer.
func (m *machine) sql(script string) {
	m.t.Helper()
	conn, err := sqlite.OpenConn(filepath.Join(m.computers()[0], "store.sqlite"), sqlite.OpenReadWrite)
	if err != nil {
		m.t.Fatal(err)
	}
	defer conn.Close()
	if err := sqlitex.ExecuteScript(conn, script, nil); err != nil {
		m.t.Fatal(err)
	}
}

// TestADamagedCopyIsNamedAndRepaired damages rows that a verb reads, one verb after the
// other, with no choir running: the verb names the one command that helps, and after
// that command it prints what it had printed.
func TestADamagedCopyIsNamedAndRepaired(t *testing.T) {
	m := newMachine(t, "")
	m.must("checkpoint", "-m", "something to look at")
	m.run("prompt", "what no model answers")
	for verb, script := range map[string]string{
		"timeline": "UPDATE marks SET value = '{'",
		"run":      "UPDATE runs SET value = '{'",
		"log":      "UPDATE mark_trail SET value = '{'", // read by appends alone
	} {
		before := m.must(verb)
		m.sql(script)
		r := m.run(verb)
		named := r.code == 1 && strings.Contains(r.errOut, "choir log --repair") && !strings.Contains(r.errOut, "in a moment")
		if reads := verb != "log"; named != reads || !reads && r.out != before {
			t.Errorf("choir %s: exit code %d\n%s%s", verb, r.code, r.out, r.errOut)
		}
		m.must("log", "--repair")
		if after := m.must(verb); !strings.Contains(after, strings.TrimSpace(before)) {
			t.Errorf("choir %s printed\n%s\nand after the repair\n%s", verb, before, after)
		}
		m.must("log", "--verify")
	}
}

// TestADamagedLogIsListedWhole damages one copy with no choir running: the log
// is listed whole and said to be damaged, --verify names what and where and
// changes nothing, --repair restores it. Then both copies.
func TestADamagedLogIsListedWhole(t *testing.T) {
	m := newMachine(t, "")
	m.must("checkpoint", "-m", "something in the log")
	before := m.must("log", "--json")
	m.flip(`"computer.created"`)
	listed := m.run("log", "--json")
	if listed.code != 0 || listed.out != before || !strings.Contains(listed.errOut, "events 1 to 1 are damaged in the journal copy") {
		t.Errorf("exit code %d\n%s\nthe log was\n%s\nis\n%s", listed.code, listed.errOut, before, listed.out)
	}
	for range 2 {
		r := m.run("log", "--verify")
		if r.code != 1 || !strings.Contains(r.out, "damaged   events 1 to 1 in the journal copy: record at bytes 52 to ") || !strings.Contains(r.errOut, "choir log --repair") {
			t.Errorf("exit code %d\n%s%s", r.code, r.out, r.errOut)
		}
	}
	if out := m.must("log", "--repair"); !strings.Contains(out, "repaired  events 1 to 1 in the journal copy: record at bytes 52 to ") {
		t.Error(out)
	}
	m.must("log", "--verify")

	before = m.must("log", "--json")
	m.flip(`"computer.created"`)
	m.sql("UPDATE events SET event = '{}' WHERE seq = 1")
	_, rest, _ := strings.Cut(before, "\n")
	listed = m.run("log", "--json")
	if listed.code != 0 || listed.out != rest || !strings.Contains(listed.errOut, "events 1 to 1 are damaged in both copies (record at bytes 52 to ") {
		t.Errorf("exit code %d\n%s\n%s", listed.code, listed.errOut, listed.out)
	}
	for _, flag := range []string{"--verify", "--repair"} {
		r := m.run("log", flag, "--json")
		var report eventstore.Report
		line, _, _ := strings.Cut(r.out, "\n")
		if err := json.Unmarshal([]byte(line), &report); err != nil || r.code != 1 || len(report.Holes) != 1 || report.Holes[0].From != 1 || report.Holes[0].To != 1 {
			t.Errorf("%s: exit code %d, %+v %v\n%s", flag, r.code, report, err, r.errOut)
		}
	}
	if listed = m.run("log", "--json"); listed.out != rest {
		t.Errorf("after the repair it lists\n%s", listed.out)
	}
}

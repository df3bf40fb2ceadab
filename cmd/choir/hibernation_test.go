package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

// errNotYet is the error of what has not happened yet.
var errNotYet = errors.New("not yet")

// hibernates waits until the only computer hibernates.
func (m *machine) hibernates(c *client) {
	m.t.Helper()
	m.eventually("the computer hibernates", func() error {
		var list []api.ComputerView
		err := c.get(m.t.Context(), "/api/computers", &list)
		if err == nil && (len(list) != 1 || !list[0].Hibernated) {
			err = errNotYet
		}
		return err
	})
}

// TestAComputerHibernatesAndWakesForACommand lets a computer go idle for a second, and asks
// for its files with a command.
func TestAComputerHibernatesAndWakesForACommand(t *testing.T) {
	m := newMachine(t, "[computers]\nhibernate_after = '1s'\nready = 0\n")
	up := m.up()
	up.healthy()
	m.must("checkpoint", "-m", "before it sleeps")
	m.hibernates(m.client())
	for _, p := range m.processes() {
		if !strings.Contains(p, " up ") {
			t.Errorf("it hibernates and there is process %s", p)
		}
	}
	if out := m.must("computers"); !strings.Contains(out, "hibernates") {
		t.Errorf("computers:\n%s", out)
	}
	if out := m.must("doctor"); !strings.Contains(out, "0 open, 0 of them standing still, 1 hibernated") {
		t.Errorf("doctor:\n%s", out)
	}
	if out := m.must("metrics"); !strings.Contains(out, `choir_computers{state="hibernated"} 1`) {
		t.Errorf("metrics:\n%s", out)
	}
	if out := m.must("log"); !strings.Contains(out, "before it sleeps") {
		t.Errorf("log:\n%s", out)
	}
	m.must("log", "--verify")
}

// TestAKillWhileAComputerHibernatesLosesNothing kills choir at moments of the hibernation:
// when the folder of sandbox notes or the note of the closed computer changes. Each time the
// next choir must have all that was acknowledged.
func TestAKillWhileAComputerHibernatesLosesNothing(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "[computers]\nhibernate_after = '1s'\nready = 0\n")
	up := m.up()
	up.healthy()
	dir := m.computers()[0]
	moments := map[string]func() bool{
		"one sandbox is gone": func() bool { return len(m.sandboxNotes(dir)) < 2 },
		"both are gone":       func() bool { return len(m.sandboxNotes(dir)) == 0 },
		"the computer is closed": func() bool {
			_, err := os.Stat(filepath.Join(dir, "closed.json"))
			return err == nil
		},
	}
	for name, reached := range moments {
		said := "acknowledged before " + name
		m.must("checkpoint", "-m", said)
		m.eventually("both sandboxes run", func() error {
			if len(m.sandboxNotes(dir)) < 2 {
				return errNotYet
			}
			return nil
		})
		m.eventually(name, func() error {
			if !reached() {
				return errNotYet
			}
			return nil
		})
		up.kill()
		up = m.up()
		if out := m.must("log"); !strings.Contains(out, said) {
			t.Errorf("killed when %s: the log is\n%s", name, out)
		}
		m.must("log", "--verify")
		noEffectTwice(t, m.client().log(t))
	}
	up.stop()
	m.nothingLeft(filepath.Base(dir))
}

// sandboxNotes lists the notes of the running sandboxes of a computer.
func (m *machine) sandboxNotes(dir string) []string {
	m.t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "handles", "*.json"))
	if err != nil {
		m.t.Fatal(err)
	}
	return found
}

// TestAHibernatedComputerHasSandboxesReady lets a computer hibernate, wakes it, kills choir while
// sandboxes are ready for it, and stops choir while they are: nothing of them remains, and no list
// of people or of the log names them.
func TestAHibernatedComputerHasSandboxesReady(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "[computers]\nhibernate_after = '1s'\nready = 1\n")
	up := m.up()
	up.healthy()
	shows := func(what string, figures ...string) {
		m.eventually(what, func() error {
			out := m.must("metrics")
			for _, figure := range figures {
				if !strings.Contains(out, "\nchoir_"+figure+"\n") {
					return errNotYet
				}
			}
			return nil
		})
	}
	ready := func(what string) { shows(what, "sandboxes_ready 2", `computers{state="hibernated"} 1`) }
	ready("sandboxes are ready")
	if out := m.must("computers"); !strings.Contains(out, "hibernates") {
		t.Errorf("computers:\n%s", out)
	}
	before := m.processes()
	m.must("checkpoint", "-m", "woken")
	shows("both are claimed", "sandboxes_claimed 2")
	if out := m.must("log"); strings.Count(out, "woken") == 0 {
		t.Errorf("log:\n%s", out)
	}
	for _, e := range m.client().log(t) {
		if e.Type == choir.TypeSandboxStarted && strings.Contains(string(e.Payload), `"recovered":true`) {
			t.Errorf("event %d: a sandbox that waited counts as one of an earlier choir", e.Seq)
		}
	}
	ready("sandboxes are ready again") // nothing uses the computer until the kill
	up.kill()
	left, err := filepath.Glob(filepath.Join(m.data, "sandbox", "ready", "*.json"))
	if err != nil || len(left) != 2 {
		t.Fatalf("notes of %v after a kill, %v", left, err)
	}
	up = m.up()
	if left, _ = filepath.Glob(filepath.Join(m.data, "sandbox", "ready", "*.json")); len(left) != 0 {
		t.Errorf("the next choir left %v", left)
	}
	m.must("checkpoint", "-m", "woken after a kill")
	ready("sandboxes are ready after a kill")
	up.stop()
	m.nothingLeft(filepath.Base(m.computers()[0]))
	if len(before) < 3 { // choir, and two sandboxes
		t.Errorf("while sandboxes were ready there were the processes %v", before)
	}
}

// TestAnIdleComputerStandsStill lets a computer freeze, uses it, kills choir while it is frozen and
// takes it up again.
func TestAnIdleComputerStandsStill(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "[computers]\nhibernate_after = '0'\nfreeze_after = '1s'\n")
	up := m.up()
	up.healthy()
	frozen := func(what string) {
		m.eventually(what, func() error {
			if !strings.Contains(m.must("metrics"), "\nchoir_computers_frozen 1\n") {
				return errNotYet
			}
			return nil
		})
	}
	frozen("the computer is frozen")
	for language, says := range map[string]string{"en_US.UTF-8": "(stands still)", "de_DE.UTF-8": "(steht still)"} {
		m.env = []string{"LC_ALL=" + language}
		if out := m.must("computers"); !strings.Contains(out, says) {
			t.Errorf("choir computers in %s says %q of a frozen computer, want %s", language, out, says)
		}
	}
	m.env = nil
	frozen("the computer is frozen while it is listed")
	if out := m.must("metrics"); strings.Contains(out, "choir_sandboxes_ready 1") || !strings.Contains(out, "\nchoir_computers_thaws ") {
		t.Errorf("metrics:\n%s", out)
	}
	began := m.client().log(t)
	if run := m.run("checkpoint", "-m", "thawed"); run.code != 0 {
		t.Fatalf("a checkpoint of a frozen computer: %+v", run)
	}
	if now := m.client().log(t); len(now) <= len(began) {
		t.Error("the checkpoint is in no event")
	}
	frozen("the computer is frozen again")
	up.kill()
	up = m.up()
	up.healthy()
	recovered := 0
	for _, e := range m.client().log(t) {
		if e.Type == choir.TypeSandboxStarted && strings.Contains(string(e.Payload), `"recovered":true`) {
			recovered++
		}
	}
	if recovered != 2 {
		t.Errorf("%d sandboxes were taken up, not 2", recovered)
	}
	m.must("checkpoint", "-m", "thawed after a kill")
	frozen("the computer is frozen after a kill")
	up.stop()
	m.nothingLeft(filepath.Base(m.computers()[0]))
}

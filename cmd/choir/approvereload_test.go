package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// TestOtherRulesComeIntoForceWithoutAStart reloads rules of [[approve]], wrong ones too, between
// tasks and while one works in the workspace or in a copy.
func TestOtherRulesComeIntoForceWithoutAStart(t *testing.T) {
	m := newMachine(t, "")
	r := m.up()
	c := m.client()
	r.healthy()
	a := &approver{&office{m, c, r.cmd.Process.Pid}, r}
	a.add(t, "app", files{"a.txt": "one\n", "guarded/b.txt": "two\n"})
	file := filepath.Join(m.data, "choir.toml")
	base, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(rules string) {
		t.Helper()
		if err := os.WriteFile(file, append(append([]byte{}, base...), rules...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const rule = "\n[[approve]]\nname = 'guarded files'\npath = 'app/guarded/**'\n"
	put := func(text string) string { return shellTask("edit_repo", "app", "printf "+text+" > guarded/b.txt", "") }

	// One that works in the workspace when the rule comes is taken back at its end.
	atWork := a.submit(shellTask("edit_repo", "app", "printf EARLY > guarded/b.txt; until [ -e /workspace/workspace/go ]; do sleep 0.02; done", ""))
	a.eventually("the task works", func() error {
		_, err := os.Stat(a.at("app/guarded/b.txt"))
		if a.inApp("guarded/b.txt") != "EARLY" {
			return os.ErrNotExist
		}
		return err
	})
	write(rule)
	if said := a.must("egress", "reload"); !strings.Contains(said, "1 rule of [[approve]]") {
		t.Errorf("it says %q", said)
	}
	if err := os.WriteFile(a.at("go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	a.waits(atWork.Task)
	if got := a.inApp("guarded/b.txt"); got != "two\n" {
		t.Errorf("while it waits the file is %q", got)
	}
	if err := os.Remove(a.at("go")); err != nil {
		t.Fatal(err)
	}

	for text, names := range map[string]string{
		rule + "[[approve]]\nlines = -1\n":   "approve[1].lines must be at least 1, not -1",
		rule + "[[approve]]\nhammer = 'x'\n": "approve.hammer is not a known key",
		"\n[[approve]\n":                     "line",
	} {
		write(text)
		no := a.run("egress", "reload")
		if no.code != 2 || !strings.Contains(no.errOut, names) || !strings.Contains(no.errOut, "choir.toml") || !strings.Contains(no.errOut, "stays in force") {
			t.Errorf("%q: %+v", text, no)
		}
		if said := a.must("doctor"); !strings.Contains(said, "choir goes on with what it read before") || !strings.Contains(said, names) {
			t.Errorf("%q: the doctor says %s", text, said)
		}
	}
	held := a.hold(put("TWO"))
	write(rule)
	if said := a.must("doctor"); !strings.Contains(said, "works in a copy") {
		t.Errorf("the doctor does not tell of the rules: %s", said)
	}
	a.must("approve", string(held))
	if r := a.result(held); r.Status != choir.StatusOK || a.inApp("guarded/b.txt") != "TWO" {
		t.Errorf("%s: %s; the file is %q", r.Status, r.Summary, a.inApp("guarded/b.txt"))
	}

	// One that works in a copy when the rule goes comes in at its end.
	inCopy := a.submit(shellTask("edit_repo", "app", untilGo+"printf LATE > guarded/c.txt", ""))
	a.startedAside(inCopy.Task)
	write("")
	if said := a.must("egress", "reload"); !strings.Contains(said, "0 rules of [[approve]]") {
		t.Errorf("it says %q", said)
	}
	a.letGo(inCopy.Task)
	if r := a.result(inCopy.Task); r.Status != choir.StatusOK || r.Checkpoint == nil || a.inApp("guarded/c.txt") != "LATE" {
		t.Errorf("%s: %s; the file is %q", r.Status, r.Summary, a.inApp("guarded/c.txt"))
	}
	if n := a.count(choir.TypeEffectHeld); n != 2 {
		t.Errorf("%d results were held", n)
	}
	// What was held before goes on to wait.
	a.must("refuse", string(atWork.Task))
	if r := a.result(atWork.Task); r.Code != choir.ResultNotApproved {
		t.Errorf("%s: %s", r.Status, r.Summary)
	}
}

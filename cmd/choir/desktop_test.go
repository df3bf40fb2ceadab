package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/webui"
)

// TestADesktopThatNobodyLooksAtIsVerified changes the desktop's source with no browser open, so that nothing
// but the change has the packages of its check unpacked. Verification needs them, passes
// a good change with linter and tests, and takes a bad one back.
func TestADesktopThatNobodyLooksAtIsVerified(t *testing.T) {
	t.Parallel()
	if digest, _, _ := webui.DesktopModules(); digest == "" {
		t.Skip("this build has no packages of the desktop: make build packs them")
	}
	o := openOffice(t)
	if o.inside(t, "command -v node") != 0 {
		t.Skip("node is not in the sandbox: install it in a system folder of this machine")
	}
	csv := filepath.Join(o.workspace(), "choiros", "src", "domain", "csv.test.ts")
	before, err := os.ReadFile(csv)
	if err != nil {
		t.Fatal(err)
	}
	change := func(shell string) string {
		return `{"kind":"edit_repo","instruction":"Do it.","commands":[{"shell":` + quoteJSON("cd choiros/src/domain && "+shell) + `}]}`
	}
	r := o.ends(t, change(`echo 'it("adds", () => expect(1 + 1).toBe(2));' >> csv.test.ts`), 0, choir.StatusOK, "")
	want := "its linter finds no mistake, "
	if !strings.Contains(r.Verify.Proves, want) || !strings.Contains(r.Verify.Proves, " tests of what was changed ran") {
		t.Errorf("verification %s proves %q: %s", r.Verify.Status, r.Verify.Proves, r.Verify.Log)
	}
	good, err := os.ReadFile(csv)
	if err != nil || string(good) == string(before) {
		t.Fatalf("the change is not there: %v", err)
	}
	r = o.ends(t, change("sed -i s/1.+.1/1/ csv.test.ts"), 1, choir.StatusFailed, choir.ResultVerifyFailed)
	if r.Verify.Status != choir.VerifyFail || !strings.Contains(r.Verify.Log, "csv.test.ts") {
		t.Errorf("verification %s: %s", r.Verify.Status, r.Verify.Log)
	}
	if now, err := os.ReadFile(csv); err != nil || string(now) != string(good) {
		t.Errorf("the bad change is still there: %v", err)
	}
}

// TestTheDesktopChangesAsWasSaid has the words of a model, which it said by hand over the product (docs/EVAL.md),
// said to this build: it looks for the clock of the bar, plans one step, changes the code, and the change is
// verified by the desktop's own check.
func TestTheDesktopChangesAsWasSaid(t *testing.T) {
	t.Parallel()
	if digest, _, _ := webui.DesktopModules(); digest == "" {
		t.Skip("this build has no packages of the desktop: make build packs them")
	}
	said := filepath.Join(t.TempDir(), "said.jsonl")
	if err := os.WriteFile(said, unpack(t, "testdata/desktop-said.jsonl.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := newMachine(t, "")
	model := m.connectScript(rulesOf(t, said))
	m.up().healthy()
	m.waitForSnapshot(m.client())
	out := m.must("prompt", "Show the day of the week before the time in the bar.")
	if !strings.Contains(out, "task ok: verification pass") || !strings.Contains(out, "finished: done") {
		t.Error(out)
	}
	for _, u := range model.Unmatched() {
		t.Error("the model was asked another thing:", u)
	}
	source, err := os.ReadFile(filepath.Join(m.workspace(), "choiros", "src", "shell", "Tray.tsx"))
	if before, after, found := strings.Cut(string(source), `{ weekday: "short" })}`); err != nil || !found || strings.Contains(before, "toLocaleTimeString") || !strings.Contains(after, "toLocaleTimeString") {
		t.Errorf("%v:\n%s", err, source)
	}
}

package verify

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"choiros/internal/choir"
)

// installed is a Machine with programs.
type installed []string

func (m installed) Has(program string) bool     { return slices.Contains(m, program) }
func (installed) HasModule(string, string) bool { return false }
func tapOf(lines string) []byte                 { return []byte("TAP version 13\n1..3\n" + lines) }
func ranOf(code int, output []byte) Ran {
	return Ran{ExitCode: code, Output: output, Report: textReport(string(output))}
}

// checked returns an output of the check of which the test with a number fails, 0 for none.
func checked(failing int, linted, seen string) []byte {
	lines := []string{"the desktop is built", "the desktop's types hold", desktopLinted + linted, "src/a.test.ts > adds", "src/a.test.ts > takes away", "src/b.test.ts > waits # SKIP it says so", desktopSeen + seen}
	tally := map[string]int{}
	for i, name := range lines {
		said := "ok"
		switch {
		case i+1 == failing:
			said, tally["fail"] = "not ok", tally["fail"]+1
		case strings.Contains(name, "# SKIP"):
			tally["skipped"]++
		default:
			tally["pass"]++
		}
		lines[i] = fmt.Sprintf("%s %d - %s", said, i+1, name)
	}
	end := fmt.Sprintf("# tests %d\n# pass %d\n# fail %d\n# skipped %d\n", len(lines), tally["pass"], tally["fail"], tally["skipped"])
	return tapOf(strings.Join(lines, "\n") + "\n" + end)
}

func desktopTree() fstest.MapFS {
	return fstest.MapFS{
		"choiros/index.html": {}, "choiros/src/main.tsx": {}, "choiros/package.json": {Data: []byte(`{"scripts":{"test":"vitest run"},"devDependencies":{"vitest":"4"}}`)},
		"workspace/site/index.html": {}, "workspace/site/src/main.tsx": {}, "workspace/site/package.json": {Data: []byte(`{"scripts":{"test":"node --test"}}`)},
	}
}

// TestAChangeOfTheDesktopHasACheckOfItsOwn: npm's scripts cannot run in a sandbox, which
// has none of the tools, so every change of the desktop was unknown.
func TestAChangeOfTheDesktopHasACheckOfItsOwn(t *testing.T) {
	t.Parallel()
	machine := installed{"node", "npm", desktopChecker}
	for _, mode := range []choir.VerifyMode{choir.VerifySmoke, choir.VerifyFull} {
		found := DiscoverIn(desktopTree(), []string{"choiros/src/shell/Desk.tsx", "choiros/themes/dark.json"}, mode, machine)
		if len(found) != 1 || !found[0].ofDesktop() || !found[0].Tests || found[0].Missing != "" || found[0].Command.Cwd != "choiros" {
			t.Errorf("%s: %+v", mode, found)
		}
	}
	if found := DiscoverIn(desktopTree(), []string{"workspace/site/src/main.tsx"}, choir.VerifySmoke, machine); len(found) != 1 || found[0].ofDesktop() {
		t.Errorf("another project: %+v", found)
	}
	for _, less := range []installed{{"node"}, {desktopChecker}} {
		if found := DiscoverIn(desktopTree(), []string{"choiros/src/main.tsx"}, choir.VerifySmoke, less); len(found) != 1 || found[0].Missing == "" {
			t.Errorf("on a machine with %v: %+v", less, found)
		}
	}
}

func TestACheckOfTheDesktopPassesOnlyIfItsPageWasSeen(t *testing.T) {
	t.Parallel()
	check := desktopCheck(installed{"node", desktopChecker})
	for _, c := range []struct {
		name   string
		ran    Ran
		status choir.VerifyStatus
		proves string
	}{
		{"seen", ranOf(0, checked(0, "", "")), choir.VerifyPass, "the desktop was built, its types hold, its linter finds no mistake, 2 tests of what was changed ran, and its page comes up in a browser"},
		{"no browser", ranOf(0, checked(0, "", " # SKIP none")), choir.VerifyUnknown, "the desktop was built, its types hold, its linter finds no mistake, 2 tests of what was changed ran"},
		{"no tools", ranOf(0, checked(0, " # SKIP none", "")), choir.VerifyUnknown, "the desktop was built, its types hold, and its page comes up in a browser"},
		{"broken", ranOf(1, checked(1, "", "")), choir.VerifyFail, ""},
		{"linted", ranOf(1, checked(3, "", "")), choir.VerifyFail, ""},
		{"cut off", ranOf(0, tapOf("ok 1 - a\n")), choir.VerifyUnknown, ""},
		{"no node", ranOf(127, nil), choir.VerifyUnknown, ""},
	} {
		status, reason := Judge(check, c.ran)
		f := finding{check: check, ran: c.ran, status: status}
		if status != c.status || (status == choir.VerifyUnknown) != (reason != "") || f.proves() != c.proves {
			t.Errorf("%s: %s, %q, proves %q", c.name, status, reason, f.proves())
		}
	}
	if said := (&trial{}).absentDependency(check, ranOf(1, tapOf("# Could not resolve 'left-pad'\n"))); said != "" {
		t.Errorf("a missing package excuses the desktop: %s", said)
	}
}

package verify

import (
	"slices"
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
		{"seen", ranOf(0, tapOf("ok 1 - a\nok 2 - b\nok 3 - c\n# tests 3\n# pass 3\n# fail 0\n# skipped 0\n")), choir.VerifyPass, "the desktop was built, its types hold, and its page comes up in a browser"},
		{"no browser", ranOf(0, tapOf("ok 1 - a\nok 2 - b\nok 3 - c # SKIP none\n# tests 3\n# pass 2\n# fail 0\n# skipped 1\n")), choir.VerifyUnknown, "the desktop was built, and its types hold"},
		{"broken", ranOf(1, tapOf("not ok 1 - a\n# Could not resolve 'left-pad'\nok 2 - b\nnot ok 3 - c\n# tests 3\n# pass 1\n# fail 2\n# skipped 0\n")), choir.VerifyFail, ""},
		{"mistyped", ranOf(1, tapOf("ok 1 - a\nnot ok 2 - b\n# error TS2322\nok 3 - c\n# tests 3\n# pass 2\n# fail 1\n# skipped 0\n")), choir.VerifyFail, ""},
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

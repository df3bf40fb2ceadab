package verify

import (
	"strings"

	"choiros/internal/choir"
)

const (
	// desktopFolder is the folder of the desktop's source in a workspace.
	desktopFolder = "choiros"
	// modulesFolder has the packages of the desktop inside a sandbox, and desktopChecker is
	// the program among them that checks the source, see internal/desktop/dev/check.mjs.
	modulesFolder  = "/node_modules"
	desktopChecker = modulesFolder + "/.choir/check.mjs"
)

// isDesktop reports whether the project is the source of the computer's desktop.
func (p project) isDesktop() bool {
	return p.dir == desktopFolder && p.has("index.html") && p.has("src/main.tsx")
}

// desktopCheck returns the check that builds the desktop, checks its types, lints it, runs the tests of
// what was changed and starts its page in a browser.
// It takes the place of npm's scripts, whose programs are not in a sandbox.
func desktopCheck(m Machine) Check {
	c := argv("node", true, m, "node", desktopChecker, ".", modulesFolder)
	if c.Missing == "" && !m.Has(desktopChecker) {
		c.Missing = "this build of choir does not carry what checks the desktop"
	}
	return c
}

// ofDesktop reports whether the check is that of desktopCheck.
func (c Check) ofDesktop() bool {
	return !c.given && len(c.Command.Argv) > 1 && c.Command.Argv[1] == desktopChecker
}

// The tests of the check that may be skipped, because this machine or the unpacked packages lack
// something.
const (
	desktopLinted = "the desktop's linter finds no mistake"
	desktopSeen   = "the desktop's page comes up"
)

// provesDesktop returns in words what a check of the desktop proves; "" if it failed.
func (f *finding) provesDesktop() string {
	r := f.ran.Report
	if f.ran.ExitCode != 0 || !r.Known {
		return ""
	}
	words := "the desktop was built, its types hold"
	if r.Tests[desktopLinted].Passed > 0 {
		words += ", its linter finds no mistake, "
		switch n := desktopTests(r); n {
		case 0:
			words += "no test is about what was changed"
		default:
			words += tests(n) + " of what was changed ran"
		}
	}
	if r.Tests[desktopSeen].Passed > 0 {
		words += ", and its page comes up in a browser"
	}
	return words
}

// desktopTests returns how many tests of the source itself ran. Their names begin with a file's.
func desktopTests(r Report) (ran int) {
	for name, t := range r.Tests {
		if strings.Contains(name, ".test.ts") {
			ran += t.Ran()
		}
	}
	return ran
}

// judgeDesktop returns the status of a check of the desktop that ended as r. reason explains
// an unknown status.
func judgeDesktop(r Ran) (status choir.VerifyStatus, reason string) {
	switch {
	case r.ExitCode != 0:
		return choir.VerifyFail, ""
	case !r.Report.Known:
		return choir.VerifyUnknown, "the check of the desktop did not say how it ended"
	case r.Report.Tests[desktopLinted].Passed == 0:
		return choir.VerifyUnknown, "the desktop was built and its types hold, but the packages of its linter and its tests could not be unpacked"
	case r.Report.Tests[desktopSeen].Passed == 0:
		return choir.VerifyUnknown, "the desktop was built and its types hold, but no browser is on this machine that could show whether its page comes up"
	}
	return choir.VerifyPass, ""
}

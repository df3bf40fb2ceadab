package verify

import "choiros/internal/choir"

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

// desktopCheck returns the check that builds the desktop, checks its types and starts its page in a browser.
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

// provesDesktop returns in words what a check of the desktop proves; "" if it failed.
func (f *finding) provesDesktop() string {
	switch {
	case f.ran.ExitCode != 0 || !f.ran.Report.Known:
		return ""
	case f.ran.Report.Total.Skipped > 0:
		return "the desktop was built, and its types hold"
	}
	return "the desktop was built, its types hold, and its page comes up in a browser"
}

// judgeDesktop returns the status of a check of the desktop that ended as r. reason explains
// an unknown status.
func judgeDesktop(r Ran) (status choir.VerifyStatus, reason string) {
	switch {
	case r.ExitCode != 0:
		return choir.VerifyFail, ""
	case !r.Report.Known:
		return choir.VerifyUnknown, "the check of the desktop did not say how it ended"
	case r.Report.Total.Skipped > 0:
		return choir.VerifyUnknown, "the desktop was built and its types hold, but no browser is on this machine that could show whether its page comes up"
	}
	return choir.VerifyPass, ""
}

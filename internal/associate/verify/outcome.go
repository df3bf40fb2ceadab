package verify

import (
	"bytes"
	"regexp"
	"strconv"

	"choiros/internal/choir"
)

// Ran is the exit code and output of a check that ended.
type Ran struct {
	ExitCode int // -1 when a signal ended it
	Output   []byte
	Report   Report
	Run      choir.CommandRun
}

// Judge returns the status of a check that ended as r. reason explains an unknown status.
func Judge(c Check, r Ran) (status choir.VerifyStatus, reason string) {
	if c.ofDesktop() && r.ExitCode != 126 && r.ExitCode != 127 {
		return judgeDesktop(r)
	}
	switch {
	case r.ExitCode == 126 || r.ExitCode == 127:
		return choir.VerifyUnknown, "a program that the check needs is not on this machine"
	case c.Kind == "python" && c.Tests && r.ExitCode == 5:
		return choir.VerifyUnknown, "the check found no tests" // pytest, and unittest from Python 3.12
	case offline(c.Kind, r):
		return choir.VerifyUnknown, "the check needs dependencies that are not here, and there is no network"
	case r.ExitCode != 0:
		return choir.VerifyFail, ""
	case !c.Tests:
		return choir.VerifyUnknown, "no tests of its own were found; it compiles"
	case r.Report.Known && r.Report.Total.Ran() == 0, !r.Report.Known && !executed(c.Kind, c.Command, r.Output):
		return choir.VerifyUnknown, "the check executed no tests"
	}
	return choir.VerifyPass, ""
}

var (
	goOffline   = regexp.MustCompile(`module lookup disabled by GOPROXY=off|import lookup disabled by -mod=`)
	rustOffline = regexp.MustCompile(`attempting to make an HTTP request, but --offline was specified|you're using offline mode`)
	testFailed  = regexp.MustCompile(`(?m)^\s*--- FAIL:|test result: FAILED`)
)

// offline reports whether the toolchain failed before any test because it could not
// download something.
func offline(kind string, r Ran) bool {
	if r.ExitCode == 0 || testFailed.Match(r.Output) {
		return false
	}
	return kind == "go" && goOffline.Match(r.Output) || kind == "rust" && rustOffline.Match(r.Output)
}

var (
	rustPassed   = regexp.MustCompile(`test result: ok\. (\d+) passed`)
	nodeCount    = regexp.MustCompile(`(?m)^(?:#|ℹ) tests (\d+)`)
	unittestRuns = regexp.MustCompile(`(?m)^Ran (\d+) tests? in`)
	goOK         = regexp.MustCompile(`(?m)^ok\s.*$`)
)

// executed reports whether the output of a passing check shows at least one executed
// test. For npm scripts and make, whose output has no fixed form, it returns true.
func executed(kind string, c choir.Command, out []byte) bool {
	switch {
	case kind == "go":
		for _, line := range goOK.FindAll(out, -1) {
			if !bytes.Contains(line, []byte("[no tests to run]")) {
				return true
			}
		}
		return false
	case kind == "rust":
		return sum(rustPassed, out) > 0
	case kind == "node" && c.Argv[0] == "node":
		return sum(nodeCount, out) > 0
	case kind == "python" && unittestRuns.Match(out):
		return sum(unittestRuns, out) > 0
	}
	return true
}

// sum returns the sum of the numbers that re captures in out.
func sum(re *regexp.Regexp, out []byte) int {
	total := 0
	for _, m := range re.FindAllSubmatch(out, -1) {
		n, _ := strconv.Atoi(string(m[1])) // the expression matches digits
		total += n
	}
	return total
}

// Together returns the joint status of several checks: fail if one failed; pass if at
// least one passed and none that executes tests is unknown; else unknown.
func Together(checks []Check, statuses []choir.VerifyStatus) choir.VerifyStatus {
	passed := false
	for i, s := range statuses {
		switch {
		case s == choir.VerifyFail:
			return choir.VerifyFail
		case s == choir.VerifyUnknown && checks[i].Tests:
			return choir.VerifyUnknown
		case s == choir.VerifyPass:
			passed = true
		}
	}
	if passed {
		return choir.VerifyPass
	}
	return choir.VerifyUnknown
}

package verify

import (
	"slices"
	"strconv"
	"strings"

	"choiros/internal/choir"
)

func number(n int) string { return strconv.Itoa(n) }

// tests returns a number of tests in words.
func tests(n int) string {
	if n == 1 {
		return "1 test"
	}
	return number(n) + " tests"
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// line returns the command of a check in one line.
func (c Check) line() string {
	if c.Command.Shell != "" {
		return c.Command.Shell
	}
	return strings.Join(c.Command.Argv, " ")
}

// conclude fills in the verdict from what the checks say.
func (t *trial) conclude(found []finding) {
	v := &t.verdict
	var checks []Check
	var statuses []choir.VerifyStatus
	var reasons []string
	proven := slices.ContainsFunc(found, func(f finding) bool { return f.status == choir.VerifyPass })
	for i := range found {
		f := &found[i]
		switch {
		case f.weak != "" && proven:
			f.check.Tests = false // others prove what it cannot
		case f.weak != "":
			f.suspicious(f.weak)
		}
		if f.status == choir.VerifyFail {
			v.Status, v.Failed, v.Output = choir.VerifyFail, &f.ran.Run, f.ran.Output
			v.Log = f.failed
			v.Proves = t.proves(found)
			return
		}
		checks, statuses = append(checks, f.check), append(statuses, f.status)
		for _, r := range f.reasons {
			reasons = append(reasons, f.check.line()+": "+r)
		}
		for _, s := range f.suspect {
			v.Suspect = append(v.Suspect, f.check.line()+": "+s)
		}
	}
	v.Suspect = append(v.Suspect, t.tests.suspicions()...)
	v.Status = Together(checks, statuses)
	if len(v.Suspect) > 0 {
		v.Status = choir.VerifyUnknown
	}
	v.Suspect = v.Suspect[:min(len(v.Suspect), 32)]
	for i, s := range v.Suspect {
		if r := []rune(s); len(r) > 1000 {
			v.Suspect[i] = string(r[:999]) + "…"
		}
	}
	v.Log = strings.Join(slices.Concat(reasons, v.Suspect), "; ")
	v.Proves = t.proves(found)
}

// suspicions returns why the tests that a change leaves prove less than those of before.
func (d testDiff) suspicions() []string {
	var out []string
	if n := len(d.removed); n > len(d.added) {
		out = append(out, "fewer tests: "+tests(n)+" removed ("+few(d.removed)+"), "+number(len(d.added))+" new")
	}
	if n := len(d.emptied); n > 0 {
		out = append(out, tests(n)+" "+isAre(n)+" empty now and checked something before: "+few(d.emptied))
	}
	if n := len(d.skipped); n > 0 {
		out = append(out, tests(n)+" "+isAre(n)+" skipped since the change: "+few(d.skipped))
	}
	return out
}

// proves returns in words what the checks prove; "" if none ran.
func (t *trial) proves(found []finding) string {
	var parts []string
	for i := range found {
		if words := found[i].proves(); words != "" {
			parts = append(parts, words)
		}
	}
	if len(parts) > 1 {
		parts = parts[:0]
		for i := range found {
			if words := found[i].proves(); words != "" {
				parts = append(parts, found[i].check.line()+": "+words)
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	counted := slices.ContainsFunc(found, func(f finding) bool { return f.ran.Report.Known && !f.check.ofDesktop() })
	words := strings.Join(parts, "; ")
	switch {
	case counted:
		return words + t.tests.words()
	case len(t.tests.added)+len(t.tests.removed) == 0:
		return words
	}
	return words + "; in the files of tests" + t.tests.words()
}

func (f *finding) proves() string {
	if f.check.Missing != "" || !f.check.Tests {
		return ""
	}
	if f.check.ofDesktop() {
		return f.provesDesktop()
	}
	total := f.ran.Report.Total
	if !f.ran.Report.Known {
		if f.ran.ExitCode == 0 && f.status == choir.VerifyPass {
			return "the command ended well; it does not say how many tests ran"
		}
		return ""
	}
	words := tests(total.Ran()) + " ran"
	if total.Failed > 0 {
		words += ", " + number(total.Failed) + " failed"
	}
	if total.Skipped > 0 {
		words += ", " + number(total.Skipped) + " skipped"
	}
	return words
}

// words returns how many tests are new and removed.
func (d testDiff) words() string {
	added, removed := "none new", "none removed"
	if n := len(d.added); n > 0 {
		added = number(n) + " new"
	}
	if n := len(d.removed); n > 0 {
		removed = number(n) + " removed"
	}
	return ", " + added + ", " + removed
}

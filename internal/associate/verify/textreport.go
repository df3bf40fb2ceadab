package verify

import (
	"regexp"
	"strconv"
	"strings"
)

// textReport reads what an output says about tests in the form of cargo, TAP, node's
// reporters, unittest, pytest, jest, vitest or mocha.
func textReport(out string) Report {
	for _, read := range []func(string) Report{cargoReport, nodeReport, unittestReport, summaryReport} {
		if r := read(out); r.Known {
			return r
		}
	}
	return Report{}
}

var (
	cargoTest = regexp.MustCompile(`(?m)^test (.+) \.\.\. (ok|FAILED|ignored)`)
	cargoEnd  = regexp.MustCompile(`(?m)^test result: .*?(\d+) passed; (\d+) failed; (\d+) ignored`)
)

func cargoReport(out string) Report {
	var r Report
	for _, m := range cargoEnd.FindAllStringSubmatch(out, -1) {
		r.Known = true
		r.Total.add(Tally{Passed: digits(m[1]), Failed: digits(m[2]), Skipped: digits(m[3])})
	}
	for _, m := range cargoTest.FindAllStringSubmatch(out, -1) {
		name := m[1]
		if strings.Contains(name, " (line ") {
			name, _, _ = strings.Cut(name, " (line ") // a documentation test moves with the text
		}
		r.note(name, map[string]Tally{"ok": {Passed: 1}, "FAILED": {Failed: 1}, "ignored": {Skipped: 1}}[m[2]])
	}
	return r
}

var (
	nodeEnd  = regexp.MustCompile(`(?m)^(?:#|ℹ) (tests|pass|fail|cancelled|skipped|todo) (\d+)`)
	tapTest  = regexp.MustCompile(`(?m)^( *)(ok|not ok) \d+ - (.*?)( # (?:SKIP|TODO).*)?$`)
	tapOpen  = regexp.MustCompile(`(?m)^( *)# Subtest: (.*)$`)
	specTest = regexp.MustCompile(`(?m)^ *(✔|✖|﹣) (.*?) \([\d.]+ms\)`)
)

func nodeReport(out string) Report {
	var r Report
	for _, m := range nodeEnd.FindAllStringSubmatch(out, -1) {
		n := digits(m[2])
		switch m[1] {
		case "tests":
			r.Known = true
		case "pass":
			r.Total.Passed += n
		case "fail", "cancelled":
			r.Total.Failed += n
		case "skipped", "todo":
			r.Total.Skipped += n
		}
	}
	if !r.Known {
		return r
	}
	r.tap(out)
	if len(r.Tests) == 0 {
		r.spec(out)
	}
	return r
}

// tap notes the tests of an output in the form of TAP with nested tests.
func (r *Report) tap(out string) {
	var open []string
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		if m := tapOpen.FindStringSubmatch(line); m != nil {
			depth := min(len(m[1])/4, len(open))
			open = append(open[:depth], m[2])
			continue
		}
		m := tapTest.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := strings.Join(append(open[:min(len(m[1])/4, len(open)):len(open)], m[3]), " > ")
		r.note(name, outcome(m[2] == "ok", m[4] != ""))
	}
}

// spec notes the tests of an output in the form of node's reporter for people.
func (r *Report) spec(out string) {
	out, _, _ = strings.Cut(out, "✖ failing tests:")
	for _, m := range specTest.FindAllStringSubmatch(out, -1) {
		r.note(m[2], outcome(m[1] == "✔", m[1] == "﹣"))
	}
}

func outcome(ok, skipped bool) Tally {
	switch {
	case skipped:
		return Tally{Skipped: 1}
	case ok:
		return Tally{Passed: 1}
	}
	return Tally{Failed: 1}
}

var (
	unittestTest = regexp.MustCompile(`(?m)^(\w+) \(([\w.]+)\)(?:\n[^\n]*?)? \.\.\. (ok|FAIL|ERROR|skipped|expected failure|unexpected success)`)
	unittestEnd  = regexp.MustCompile(`(?m)^Ran (\d+) tests? in`)
	unittestSkip = regexp.MustCompile(`(?m)^(?:OK|FAILED) \(.*?skipped=(\d+)`)
	unittestFail = regexp.MustCompile(`(?m)^FAILED \((.*)\)`)
	anyCount     = regexp.MustCompile(`(failures|errors)=(\d+)`)
)

func unittestReport(out string) Report {
	m := unittestEnd.FindStringSubmatch(out)
	if m == nil {
		return Report{}
	}
	r := Report{Known: true}
	if s := unittestSkip.FindStringSubmatch(out); s != nil {
		r.Total.Skipped = digits(s[1])
	}
	if f := unittestFail.FindStringSubmatch(out); f != nil {
		for _, n := range anyCount.FindAllStringSubmatch(f[1], -1) {
			r.Total.Failed += digits(n[2])
		}
	}
	r.Total.Passed = max(0, digits(m[1])-r.Total.Skipped-r.Total.Failed)
	for _, t := range unittestTest.FindAllStringSubmatch(out, -1) {
		name := t[2]
		if !strings.HasSuffix(name, "."+t[1]) {
			name += "." + t[1] // before Python 3.11 only the class is in brackets
		}
		r.note(name, outcome(t[3] == "ok" || t[3] == "expected failure", t[3] == "skipped"))
	}
	return r
}

var (
	// summaries match the closing line of pytest, of jest and vitest, and the lines of mocha.
	summaries    = regexp.MustCompile(`(?m)^(?:=+ )?(?:\d+ (?:passed|failed|skipped|errors?|xfailed|xpassed|deselected|warnings?),? ?)+in [\d.]+s|^\s*Tests:? +.*\d+ (?:passed|failed|skipped|total).*$|^\s+\d+ (?:passing|failing|pending)\b`)
	summaryCount = regexp.MustCompile(`(\d+) (passed|passing|xpassed|failed|failing|errors?|skipped|pending|todo|xfailed)`)
)

// summaryReport reads the closing lines of runners that name no tests.
func summaryReport(out string) Report {
	var r Report
	for _, line := range summaries.FindAllString(out, -1) {
		r.Known = true
		for _, m := range summaryCount.FindAllStringSubmatch(line, -1) {
			switch n := digits(m[1]); m[2] {
			case "passed", "passing", "xpassed":
				r.Total.Passed += n
			case "failed", "failing", "error", "errors":
				r.Total.Failed += n
			default:
				r.Total.Skipped += n
			}
		}
	}
	return r
}

func digits(s string) int {
	n, _ := strconv.Atoi(s) // the expressions match digits
	return n
}

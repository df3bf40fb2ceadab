package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// part is the result of one command of `make test`.
type part struct {
	Name     string    `json:"name"`
	Passed   int       `json:"passed"`
	Failures []failure `json:"failures"`
	Skips    []skip    `json:"skips"`
	Seconds  float64   `json:"seconds"`
	Timed    []timed   `json:"timed,omitempty"`
	Output   string    `json:"-"` // of a check
	single   bool      // the exit code is the test
}

type failure struct {
	Name   string `json:"name"`
	Output string `json:"output"`
}

// reasonLine is the line of a failed test's output that says why: the place in
// a Go test, or the error in TAP.
var reasonLine = regexp.MustCompile(`(?m)^\s*(?:\S+_test\.go:\d+: |error: )(.*(?:\n.*)?)`)

// maxBrief keeps a failure's reason, in bytes, within a line or two of a log.
const maxBrief = 300

// brief is the reason of a failure in one line: logs are cut in the middle, and
// the whole reason comes at their end.
func (f failure) brief() string {
	text := f.Output
	if m := reasonLine.FindStringSubmatch(text); m != nil {
		text = m[1]
	} else if at := strings.Index("\n"+text, "\nFAIL"); at >= 0 {
		text = text[at:] // what a check printed before the first line that failed has passed
	}
	line := strings.Join(strings.Fields(text), " ")
	return strings.ToValidUTF8(line[:min(len(line), maxBrief)], "")
}

type skip struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// timed is how long a package of Go, or a test of a browser, took.
type timed struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// recordExit compares the results with the command's exit: a failed exit without a
// failed test is a failure too, and so is a runner that ran nothing.
func (p *part) recordExit(name string, exit error, stderr string) {
	switch {
	case exit == nil && p.single:
		p.Passed = 1
	case exit != nil && len(p.Failures) == 0:
		text := strings.TrimSpace(p.Output + "\n" + stderr)
		// go run says so too, after what its program said.
		if text = strings.TrimSpace(strings.TrimSuffix(text, exit.Error())); text == "" {
			text = exit.Error()
		}
		p.Failures = append(p.Failures, failure{name, text})
	case !p.single && p.Passed+len(p.Failures)+len(p.Skips) == 0:
		p.Failures = append(p.Failures, failure{name, strings.TrimSpace("no test ran\n" + stderr)})
	}
}

func (p *part) word() string {
	if len(p.Failures) > 0 {
		return "FAIL"
	}
	return "ok"
}

func (p *part) save(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, strings.ReplaceAll(p.Name, " ", "-")+".json"), raw, 0o644)
}

// maxFailureLines keeps a failure readable; the end is where the reason is.
const maxFailureLines = 60

// sum prints every failure and every skip with its reason, and the final line.
func sum(dir string, out io.Writer) (ok bool, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return false, err
	}
	var all part
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return false, err
		}
		var p part
		if err := json.Unmarshal(raw, &p); err != nil {
			return false, fmt.Errorf("%s: %w", path, err)
		}
		all.Passed += p.Passed
		all.Failures = append(all.Failures, p.Failures...)
		all.Skips = append(all.Skips, p.Skips...)
		for _, t := range p.Timed {
			all.Timed = append(all.Timed, timed{p.Name + ": " + t.Name, t.Seconds})
		}
	}
	printSlowest(out, all.Timed)
	if len(paths) == 0 {
		all.Failures = []failure{{"make test", "nothing ran"}}
	}
	for i, s := range all.Skips {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "SKIPPED %s: %s\n", s.Name, s.Reason)
	}
	for _, f := range all.Failures {
		fmt.Fprintf(out, "\nFAILED %s\n%s\n", f.Name, indent(lastLines(f.Output, maxFailureLines)))
	}
	fmt.Fprintf(out, "\n%d passed, %d failed, %d skipped\n", all.Passed, len(all.Failures), len(all.Skips))
	return len(all.Failures) == 0, nil
}

// slowest is how many are named; from slowFrom seconds on.
const (
	slowest  = 12
	slowFrom = 10
)

// printSlowest says where the time went, beside others that ran at once.
func printSlowest(out io.Writer, all []timed) {
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(b.Seconds, a.Seconds) })
	for i, t := range all[:min(len(all), slowest)] {
		if t.Seconds < slowFrom {
			return
		}
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "SLOW %.0f s %s\n", t.Seconds, t.Name)
	}
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if cut := len(lines) - n; cut > 0 {
		lines = append([]string{fmt.Sprintf("(%d lines before)", cut)}, lines[cut:]...)
	}
	return strings.Join(lines, "\n")
}

func indent(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }

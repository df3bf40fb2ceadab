package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// readCheck keeps the output of a command that is one test by its exit code.
func readCheck(r io.Reader, _ io.Writer) (part, error) {
	out, err := io.ReadAll(r)
	return part{single: true, Output: string(out)}, err
}

// vitestReport is the part we read of vitest's JSON reporter.
type vitestReport struct {
	TestResults []struct {
		Name             string `json:"name"`
		Status           string `json:"status"`
		Message          string `json:"message"`
		AssertionResults []struct {
			FullName        string   `json:"fullName"`
			Status          string   `json:"status"`
			FailureMessages []string `json:"failureMessages"`
			Meta            struct {
				Reason string `json:"reason"`
			} `json:"meta"`
		} `json:"assertionResults"`
	} `json:"testResults"`
}

// readVitest reads the report from the file named by VITEST_OUTPUT when there is
// one, since other programs may write to stdout too.
func readVitest(r io.Reader, _ io.Writer) (part, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return part{}, err
	}
	if path := os.Getenv("VITEST_OUTPUT"); path != "" {
		printed := string(raw)
		if raw, err = os.ReadFile(path); err != nil {
			return part{Output: printed}, err
		}
	}
	var report vitestReport
	if err := json.Unmarshal(raw, &report); err != nil {
		return part{Output: string(raw)}, err
	}
	return report.part(), nil
}

func (v vitestReport) part() (p part) {
	for _, file := range v.TestResults {
		if file.Status == "failed" && len(file.AssertionResults) == 0 {
			p.Failures = append(p.Failures, failure{file.Name, file.Message})
		}
		for _, a := range file.AssertionResults {
			switch a.Status {
			case "passed":
				p.Passed++
			case "failed":
				p.Failures = append(p.Failures, failure{a.FullName, strings.Join(a.FailureMessages, "\n")})
			default:
				if a.Meta.Reason == "" {
					a.Meta.Reason = "marked " + a.Status + " in " + file.Name
				}
				p.Skips = append(p.Skips, skip{a.FullName, a.Meta.Reason})
			}
		}
	}
	return p
}

// tapPoint is a result line of TAP 14: indentation, ok or not, name, directive.
var tapPoint = regexp.MustCompile(`^( *)(ok|not ok) \d+(?: - (.*?))?(?: # (SKIP|TODO) ?(.*))?$`)

// tapTime is how long the point before it took.
var tapTime = regexp.MustCompile(`^ *duration_ms: ([0-9.]+)$`)

// readTAP counts the points that have no points below them.
func readTAP(r io.Reader, _ io.Writer) (p part, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	deepest, inside := 0, false // deepest point since the last one further out
	name := ""                  // of the last point that has none below it, until its time is read
	for lines.Scan() {
		if took := tapTime.FindStringSubmatch(lines.Text()); took != nil && name != "" {
			if ms, err := strconv.ParseFloat(took[1], 64); err == nil {
				p.Timed = append(p.Timed, timed{name, ms / 1000})
			}
			name = ""
		}
		m := tapPoint.FindStringSubmatch(lines.Text())
		if m == nil {
			// What follows a failed point, indented, says why.
			if inside && strings.HasPrefix(lines.Text(), " ") {
				last := &p.Failures[len(p.Failures)-1]
				last.Output += lines.Text() + "\n"
			}
			continue
		}
		depth := len(m[1])
		leaf := depth >= deepest
		deepest, inside, name = depth, false, ""
		switch {
		case !leaf:
		case m[4] != "":
			p.Skips = append(p.Skips, skip{m[3], firstOf(m[5], strings.ToLower(m[4])+" without a reason")})
		case m[2] == "ok":
			p.Passed++
			name = m[3]
		default:
			p.Failures = append(p.Failures, failure{Name: m[3]})
			inside = true
		}
	}
	return p, lines.Err()
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

package verify

import (
	"bytes"
	"encoding/json"
	"strings"
)

// goStream reads the output of go test -json as it comes. It counts the tests and gives
// back the text that go test prints without -json.
type goStream struct {
	report  Report
	partial []byte                       // the beginning of a line that is not complete
	held    map[string]map[string][]byte // output of running tests, by package and test
}

// goEvent is one line of go test -json, see go doc test2json.
type goEvent struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	FailedBuild string
}

// maxHeld limits the output of one test that is shown when it fails, in bytes.
const maxHeld = 256 << 10

// text returns the text for the next bytes of the output.
func (g *goStream) text(p []byte) []byte {
	var shown []byte
	g.partial = append(g.partial, p...)
	for {
		line, rest, whole := bytes.Cut(g.partial, []byte("\n"))
		if !whole {
			return shown
		}
		shown = append(shown, g.line(line)...)
		g.partial = append(g.partial[:0], rest...)
	}
}

// line returns the text for one line of the output.
func (g *goStream) line(line []byte) []byte {
	var e goEvent
	if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &e) != nil || e.Action == "" {
		return append(bytes.Clone(line), '\n')
	}
	switch e.Action {
	case "build-output":
		return []byte(e.Output)
	case "output":
		return g.output(e)
	case "pass", "fail", "skip":
		return g.ended(e)
	}
	return nil
}

// output holds back the output of a test, and returns that of a package.
func (g *goStream) output(e goEvent) []byte {
	if e.Test == "" {
		if e.Output == "PASS\n" {
			return nil
		}
		return []byte(e.Output)
	}
	for _, noise := range []string{"=== RUN", "=== PAUSE", "=== CONT", "=== NAME"} {
		if strings.HasPrefix(e.Output, noise) {
			return nil
		}
	}
	if g.held == nil {
		g.held = map[string]map[string][]byte{}
	}
	tests := g.held[e.Package]
	if tests == nil {
		tests = map[string][]byte{}
		g.held[e.Package] = tests
	}
	top, _, _ := strings.Cut(e.Test, "/")
	if len(tests[top]) < maxHeld {
		tests[top] = append(tests[top], e.Output...)
	}
	return nil
}

// ended records how a test or a package ended, and returns the output held back that is
// to be shown.
func (g *goStream) ended(e goEvent) []byte {
	tests := g.held[e.Package]
	if e.Test == "" {
		delete(g.held, e.Package)
		g.packageEnded(e)
		var shown []byte
		if e.Action == "fail" {
			for _, out := range tests { // of tests that a panic ended with the package
				shown = append(shown, out...)
			}
		}
		return shown
	}
	if strings.Contains(e.Test, "/") {
		return nil // its test's outcome says it
	}
	out := tests[e.Test]
	delete(tests, e.Test)
	g.report.Known = true
	switch name := e.Package + "." + e.Test; e.Action {
	case "pass":
		g.report.note(name, Tally{Passed: 1})
	case "skip":
		g.report.note(name, Tally{Skipped: 1})
	default:
		g.report.note(name, Tally{Failed: 1})
		return out
	}
	return nil
}

// packageEnded records a package that failed for no test, as when it does not compile.
func (g *goStream) packageEnded(e goEvent) {
	g.report.Known = true
	if e.Action != "fail" {
		return
	}
	for name, t := range g.report.Tests {
		if t.Failed > 0 && strings.HasPrefix(name, e.Package+".") {
			return
		}
	}
	why := "ended early"
	if e.FailedBuild != "" {
		why = "does not compile"
	}
	g.report.note(e.Package+" ("+why+")", Tally{Failed: 1})
}

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// goEvent is one line of `go test -json` (go doc test2json), and of what `go
// build -json` mixes into it.
type goEvent struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// goRun collects the events of one `go test -json`.
type goRun struct {
	part
	output  map[string]*strings.Builder // by package and test
	parents map[string]bool             // tests that have subtests
	failed  map[string]bool             // tests and packages with a failure inside
}

// readGo counts the tests that have no subtests. A package that fails without a
// failed test (it did not build, it leaked a goroutine) is one failure.
func readGo(r io.Reader, progress io.Writer) (part, error) {
	run := &goRun{output: map[string]*strings.Builder{}, parents: map[string]bool{}, failed: map[string]bool{}}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e goEvent
			if json.Unmarshal(line, &e) != nil {
				e = goEvent{Action: "output", Output: string(line)}
			}
			run.handleEvent(e, progress)
		}
		if err == io.EOF {
			return run.part, nil
		}
		if err != nil {
			return run.part, err
		}
	}
}

func key(e goEvent) string { return e.Package + "\x00" + e.Test }

// handleEvent counts one event of go test -json and collects its output.
func (g *goRun) handleEvent(e goEvent, progress io.Writer) {
	switch e.Action {
	case "run":
		for up := parent(e); up.Test != ""; up = parent(up) {
			g.parents[key(up)] = true
		}
	case "output":
		g.write(key(e), e.Output)
	case "build-output":
		g.write("build\x00"+e.ImportPath, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			g.endPackage(e, progress)
		} else {
			g.endTest(e)
		}
		delete(g.output, key(e))
	}
}

func parent(e goEvent) goEvent {
	at := strings.LastIndexByte(e.Test, '/')
	return goEvent{Package: e.Package, Test: e.Test[:max(at, 0)]}
}

func (g *goRun) write(key, text string) {
	b := g.output[key]
	if b == nil {
		b = &strings.Builder{}
		g.output[key] = b
	}
	// A test that floods its log keeps the beginning; its end is in the package.
	if b.Len() < 1<<20 {
		b.WriteString(text)
	}
}

func (g *goRun) text(key string) string {
	if b := g.output[key]; b != nil {
		return b.String()
	}
	return ""
}

func (g *goRun) endTest(e goEvent) {
	name := e.Package + " " + e.Test
	switch leaf := !g.parents[key(e)]; {
	case e.Action == "fail":
		if leaf || !g.failed[key(e)] {
			g.Failures = append(g.Failures, failure{name, withoutMarks(g.text(key(e)))})
		}
		for up := e; ; up = parent(up) {
			g.failed[key(up)] = true
			if up.Test == "" {
				break
			}
		}
	case leaf && e.Action == "skip":
		g.Skips = append(g.Skips, skip{name, reason(g.text(key(e)))})
	case leaf:
		g.Passed++
	}
}

func (g *goRun) endPackage(e goEvent, progress io.Writer) {
	if e.Elapsed > 0 {
		g.Timed = append(g.Timed, timed{e.Package, e.Elapsed})
	}
	if e.Action == "fail" {
		fmt.Fprintf(progress, "  FAIL %s (%.1f s)\n", e.Package, e.Elapsed)
	}
	if e.Action == "fail" && !g.failed[key(e)] {
		text := g.unended(e.Package) + g.text(key(e))
		if e.FailedBuild != "" {
			text = g.text("build\x00" + e.FailedBuild)
		}
		g.Failures = append(g.Failures, failure{e.Package, text})
	}
}

// unended returns the output of the tests that had not ended when their process did: a
// panic, or a signal, is told in the name of one of them.
func (g *goRun) unended(pkg string) string {
	var out strings.Builder
	for _, k := range slices.Sorted(maps.Keys(g.output)) {
		name, ours := strings.CutPrefix(k, pkg+"\x00")
		if text := withoutMarks(g.text(k)); ours && name != "" && text != "" {
			fmt.Fprintf(&out, "%s had not ended:\n%s\n", name, text)
		}
	}
	return out.String()
}

// withoutMarks drops the lines that only say which test begins or ends.
func withoutMarks(text string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(trimmed, "=== "), strings.HasPrefix(trimmed, "--- "), trimmed == "":
		default:
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// reason returns a test's argument of t.Skip, without the place in the source.
func reason(text string) string {
	text = strings.Join(strings.Fields(withoutMarks(text)), " ")
	if _, after, ok := strings.Cut(text, ".go:"); ok {
		_, text, _ = strings.Cut(after, ": ")
	}
	if text == "" {
		return "no reason given"
	}
	return text
}

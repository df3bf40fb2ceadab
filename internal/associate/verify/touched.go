package verify

import (
	"path"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// testDiff are the tests that a change adds, removes and weakens, as they are written.
type testDiff struct {
	added, removed, emptied, skipped []string
}

// removes reports whether the change removed a test, by its full name.
func (d testDiff) removes(name string) bool { return slices.Contains(d.removed, lastPart(name)) }

// maxJudges limits the files named in a verdict.
const maxJudges = 256

// readJudges finds the changed files that judge the change, and compares the tests that
// are written in changed files before and after.
func (t *trial) readJudges(checks []Check) {
	called := t.called(checks)
	t.plain = true
	before, after := written{}, written{}
	for _, c := range t.Changed {
		r := roleOf(c, t.Root, called)
		if r != roleNone {
			t.verdict.JudgedBy = append(t.verdict.JudgedBy, c.Path)
		}
		if r == roleTest || r == roleConfig {
			t.judges = append(t.judges, c)
			t.plain = t.plain && plainAddition(c, r, t.Root)
		}
		if r == roleTest || path.Ext(c.Path) == ".rs" {
			before.read(c.Path, c.before())
			after.read(c.Path, c.after(t.Root))
		}
	}
	slices.Sort(t.verdict.JudgedBy)
	if over := len(t.verdict.JudgedBy) - maxJudges; over > 0 {
		t.verdict.JudgedBy = t.verdict.JudgedBy[:maxJudges]
	}
	t.tests = compareWritten(before, after, t.language())
}

// language returns the language of the changed tests; nil if there are none.
func (t *trial) language() *language {
	for _, c := range t.Changed {
		if l := languageOf(c.Path); l != nil && (testName.MatchString(path.Base(c.Path)) || l == rustTests) {
			return l
		}
	}
	for _, c := range t.judges {
		if l := languageOf(c.Path); l != nil {
			return l
		}
	}
	return nil
}

func compareWritten(before, after written, l *language) testDiff {
	var d testDiff
	if l == nil {
		return d
	}
	for name, was := range before {
		is, there := after[name]
		switch {
		case !there:
			d.removed = append(d.removed, name)
		case l.weakened(was, is) == "emptied":
			d.emptied = append(d.emptied, name)
		case l.weakened(was, is) == "skipped":
			d.skipped = append(d.skipped, name)
		}
	}
	for name := range after {
		if _, there := before[name]; !there {
			d.added = append(d.added, name)
		}
	}
	for _, names := range [][]string{d.added, d.removed, d.emptied, d.skipped} {
		slices.Sort(names)
	}
	return d
}

// called returns a function that reports whether one of the checks names a file in its
// command or in the script that it runs.
func (t *trial) called(checks []Check) func(file string) bool {
	type line struct{ dir, text string }
	var lines []line
	for _, c := range checks {
		lines = append(lines, line{c.Dir, c.line()})
		script := t.project(c).scripts()
		for _, tool := range []string{"npm", "make"} {
			for _, name := range []string{"test", "check", "pretest", "posttest"} {
				lines = append(lines, line{c.Dir, script(tool, name)})
			}
		}
	}
	return func(file string) bool {
		return slices.ContainsFunc(lines, func(l line) bool {
			rel := file
			if l.dir != "." {
				rel = strings.TrimPrefix(file, l.dir+"/")
			}
			fields := strings.FieldsFunc(l.text, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"`$", r) })
			return slices.ContainsFunc(fields, func(w string) bool { return path.Clean(w) == rel }) && runsFile(fields, rel)
		})
	}
}

// runsFile reports whether a file that a command names is a script, and not only read.
func runsFile(fields []string, rel string) bool {
	for i, w := range fields {
		if path.Clean(w) != rel {
			continue
		}
		if strings.HasPrefix(w, "./") || i == 0 || path.Ext(rel) == ".sh" {
			return true
		}
	}
	return false
}

// narrow returns a check that runs only the tests of before that the change touched,
// where its command can be told so; else the check itself.
func (t *trial) narrow(c Check, p *fresh) Check {
	var targets []string
	for _, ch := range t.judges {
		rel := ch.Path
		if c.Dir != "." {
			var inside bool
			if rel, inside = strings.CutPrefix(ch.Path, c.Dir+"/"); !inside {
				return c
			}
		}
		if ch.Before == nil && testName.MatchString(path.Base(rel)) && !reaching.Match(ch.after(t.Root)) {
			continue // it was not there
		}
		target := ""
		switch base := path.Base(rel); {
		case c.Kind == "go" && slices.Equal(c.Command.Argv, []string{"go", "test", "./..."}) && strings.HasSuffix(base, "_test.go"):
			if target = "./" + path.Dir(rel); path.Dir(rel) == "." {
				target = "."
			}
		case c.Kind == "python" && slices.Contains(c.Command.Argv, "pytest") && !c.given && testName.MatchString(base) && ch.Before != nil,
			c.Kind == "node" && slices.Equal(c.Command.Argv, []string{"node", "--test"}) && isNodeTest(base) && ch.Before != nil:
			target = rel
		}
		if target == "" {
			return c
		}
		if !slices.Contains(targets, target) {
			targets = append(targets, target)
		}
	}
	if len(targets) == 0 {
		return c
	}
	args := slices.DeleteFunc(slices.Clone(c.Command.Argv), func(a string) bool { return a == "./..." })
	c.Command = choir.Command{Argv: append(args, targets...), Env: c.Command.Env}
	return c
}

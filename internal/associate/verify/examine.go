package verify

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
)

// examine runs one check and says what it proves.
func (t *trial) examine(ctx context.Context, c Check) (finding, error) {
	f := finding{check: c, status: choir.VerifyUnknown}
	if c.Missing != "" {
		f.unknown(c.Missing)
		return f, nil
	}
	var err error
	f.ran, err = t.run(ctx, t.Root, c, 0)
	if f.ran.Run.Command != "" {
		t.verdict.Commands = append(t.verdict.Commands, f.ran.Run)
	}
	if err != nil {
		return f, err
	}
	status, reason := Judge(c, f.ran)
	f.status = status
	if status == choir.VerifyUnknown {
		f.unknown(reason)
	}
	if status == choir.VerifyFail {
		if err := t.excuse(ctx, &f); err != nil || f.status == choir.VerifyFail {
			return f, err
		}
	}
	if failing := f.ran.Report.Total.Failed; f.ran.ExitCode == 0 && failing > 0 {
		f.suspicious("the check ended well although " + tests(failing) + " failed: " + few(f.ran.Report.failing()))
	}
	t.weigh(&f)
	if err := t.silenced(ctx, &f); err != nil {
		return f, err
	}
	if err := t.hollow(ctx, &f); err != nil {
		return f, err
	}
	return f, t.former(ctx, &f)
}

// weigh finds what a check cannot prove by what its command does.
func (t *trial) weigh(f *finding) {
	if f.status != choir.VerifyPass && !f.check.given {
		return
	}
	n := natureOf(f.check.Command, t.project(f.check).scripts())
	if f.ran.Report.Known && f.ran.Report.Total.Ran() > 0 || f.ran.ExitCode != 0 {
		return
	}
	switch say := f.unknown; {
	case n == idle:
		f.weak = "the command ends well whatever the project does"
	case n == compiles && f.check.given && t.hasTests():
		f.weak = "the command compiles or lints and executes no test"
	case n == compiles:
		if t.touched(f.check) {
			say = f.suspicious
		}
		say("the command compiles or lints and executes no test")
	case n == runs && f.ran.Report.Known && f.check.given && t.hasTests():
		f.suspicious("the check executed no tests")
	}
	if f.weak != "" {
		f.status = choir.VerifyUnknown
	}
}

// silenced finds a check that executes no test since the change.
func (t *trial) silenced(ctx context.Context, f *finding) error {
	if f.ran.ExitCode != 0 && f.ran.ExitCode != 5 || !f.ran.Report.Known || f.ran.Report.Total.Ran() > 0 || len(t.Changed) == 0 || len(f.suspect) > 0 {
		return nil
	}
	was, _, err := t.before(ctx, f)
	if n := was.Report.Total.Ran(); err == nil && n > 0 {
		f.suspicious(tests(n) + " ran before the change, and none runs now")
	}
	return err
}

// hasTests reports whether the project has tests of its own.
func (t *trial) hasTests() bool {
	return slices.ContainsFunc(t.discover(), func(c Check) bool { return c.Tests })
}

// touched reports whether the change touched the script of a check.
func (t *trial) touched(c Check) bool {
	return slices.ContainsFunc(t.judges, func(ch Changed) bool {
		base := path.Base(ch.Path)
		return base == "package.json" && c.Kind == "node" || c.Kind == "make" && configNames.MatchString(base)
	})
}

// hollowTime is how long a check may run where there is nothing to check.
const hollowTime = 20 * time.Second

// hollow runs a check whose tests nobody counted in a folder without the project. If it
// ends well there too, it proves nothing.
func (t *trial) hollow(ctx context.Context, f *finding) error {
	c := f.check
	counted := f.ran.Report.Known && f.ran.Report.Total.Ran() > 0 || c.Kind == "go" || c.Kind == "rust"
	masked := c.Command.Shell != "" || t.touched(c)
	if f.status != choir.VerifyPass || counted && !masked || strings.Contains(c.Command.Shell+strings.Join(c.Command.Argv, " "), t.Root) {
		return nil
	}
	p, err := newFresh(t.Scratch)
	if err != nil {
		return err
	}
	defer p.remove() // best effort: the folder is below the task's scratch folder
	if err := p.root.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	for _, name := range append([]string{"package.json"}, markers[4].files...) {
		if content := (Changed{Path: path.Join(c.Dir, name)}).after(t.Root); content != nil {
			if err := p.root.WriteFile(path.Join(c.Dir, name), content, 0o600); err != nil {
				return err
			}
		}
	}
	for dir := c.Dir; ; dir = path.Dir(dir) {
		_ = p.root.Symlink(filepath.Join(t.Root, filepath.FromSlash(dir), "node_modules"), path.Join(dir, "node_modules")) // where there are none, none are needed
		if dir == "." {
			break
		}
	}
	ran, err := t.run(ctx, p.dir, c, hollowTime)
	if err != nil {
		return err
	}
	if ran.ExitCode == 0 && ran.Report.Total.Ran() == f.ran.Report.Total.Ran() {
		f.suspicious("the check ends well in an empty folder too, so it proves nothing about the project")
	}
	return nil
}

// before returns how a check ends on the tree before the change; false if it cannot be
// told. The reason says why.
func (t *trial) before(ctx context.Context, f *finding) (ran Ran, reason string, err error) {
	key := f.check.Dir + " " + f.check.line()
	if ran, ok := t.Memory.find(t.Base, key); ok {
		return ran, "", nil
	}
	limit, ok := spare(ctx, f.ran)
	if !ok {
		return ran, "there was no time left to run the check on the tree before the change", nil
	}
	p, err := t.place(ctx, f.check, "base", t.Changed)
	if err != nil {
		return ran, "the tree before the change could not be made: " + err.Error(), context.Cause(ctx)
	}
	if ran, err = t.run(ctx, p.dir, f.check, limit); err != nil {
		return ran, "", err
	}
	if ran.ExitCode < 0 {
		return ran, "the check did not end in time on the tree before the change", nil
	}
	t.Memory.remember(t.Base, key, ran)
	return ran, "", nil
}

// excuse makes a failed check unknown if the change is not to blame: what failed had
// failed before it, or needs what is not here.
func (t *trial) excuse(ctx context.Context, f *finding) error {
	if sentence := t.absentDependency(f.check, f.ran); sentence != "" {
		f.unknown(sentence)
		return nil
	}
	// A command of the task may be what the change is to make succeed: that it failed
	// before excuses nothing, unless it runs tests of which others pass.
	if len(t.Changed) == 0 || f.check.given && (len(f.ran.Report.Tests) == 0 || f.ran.Report.Total.Passed == 0) {
		return nil
	}
	was, reason, err := t.before(ctx, f)
	if err != nil || reason != "" {
		f.failed = reason
		return err
	}
	failing := f.ran.Report.failing()
	fresh := without(failing, was.Report.failing())
	switch {
	case was.ExitCode == 0 && was.Report.Total.Failed == 0:
		f.failed = "It passed before the change."
	case len(fresh) > 0:
		f.failed = "New: " + few(fresh) + "."
	case len(failing) > 0:
		t.verdict.FailedBefore, t.verdict.Output = true, f.ran.Output
		f.unknown(tests(len(failing)) + " failed, and failed before the change too: " + few(failing))
	case f.ran.Report.Known && was.Report.Known && f.ran.Report.Total.Failed > was.Report.Total.Failed:
		f.failed = "More tests failed than before the change."
	default:
		t.verdict.FailedBefore, t.verdict.Output = true, f.ran.Output
		f.unknown("the check failed before the change too")
	}
	return nil
}

// former runs the tests of before against the code of after, if the change touched what
// judges it, and compares.
func (t *trial) former(ctx context.Context, f *finding) error {
	if len(t.judges) == 0 || t.plain || !f.check.Tests || f.ran.ExitCode < 0 {
		return nil
	}
	limit, ok := spare(ctx, f.ran)
	if !ok {
		f.unknown("there was no time left to run the tests as they were before the change")
		return nil
	}
	p, err := t.place(ctx, f.check, "former", t.judges)
	if err != nil {
		f.unknown("the tests as they were before the change could not be run: " + err.Error())
		return context.Cause(ctx)
	}
	c := t.narrow(t.formerCheck(f.check, p), p)
	ran, err := t.run(ctx, p.dir, c, limit)
	if err != nil {
		return err
	}
	if ran.ExitCode < 0 {
		f.unknown("the tests as they were before the change did not end in time")
		return nil
	}
	return t.compare(ctx, f, ran)
}

// formerCheck returns the check that the tests of before, which the place p has, would
// have had in place of a discovered one.
func (t *trial) formerCheck(c Check, p *fresh) Check {
	if c.given {
		return c
	}
	var paths []string
	for _, ch := range t.Changed {
		paths = append(paths, ch.Path)
	}
	found := DiscoverIn(folder(p.dir), paths, t.Profile.Mode, t.machine)
	for _, same := range []func(Check) bool{
		func(o Check) bool { return o.Tests && o.Dir == c.Dir && o.Kind == c.Kind },
		func(o Check) bool { return o.Tests && o.Dir == c.Dir },
	} {
		if i := slices.IndexFunc(found, same); i >= 0 && found[i].Missing == "" {
			return found[i]
		}
	}
	return c
}

// compare judges a check by how the tests of before ended on the code of after.
func (t *trial) compare(ctx context.Context, f *finding, former Ran) error {
	now := f.ran.Report
	broken := without(former.Report.failing(), now.failing())
	var bent []string // tests that failed before the change, and pass by the change of the tests alone
	unnamed := len(former.Report.Tests) == 0 && former.ExitCode != 0 && f.ran.ExitCode == 0
	if len(broken) > 0 || unnamed {
		was, reason, err := t.before(ctx, f)
		if err != nil {
			return err
		}
		if reason != "" {
			f.unknown(reason)
		}
		fresh := without(broken, was.Report.failing())
		bent = slices.DeleteFunc(without(broken, fresh), func(name string) bool { return now.Tests[name].Passed == 0 })
		broken = fresh
		unnamed = unnamed && was.ExitCode == 0
	}
	if len(bent) > 0 {
		f.suspicious("without the change of the tests still fail: " + few(bent))
	}
	switch {
	case len(broken) > 0:
		f.suspicious("the tests as they were before the change fail: " + few(broken))
	case unnamed:
		f.suspicious("the check as it was before the change fails")
	}
	gone := former.Report.names(func(a Tally) bool { return a.Passed > 0 })
	gone = slices.DeleteFunc(gone, func(name string) bool { return now.Tests[name].Ran() > 0 })
	skipped := slices.DeleteFunc(slices.Clone(gone), func(name string) bool { return now.Tests[name].Skipped == 0 })
	gone = slices.DeleteFunc(without(gone, skipped), func(name string) bool { return t.tests.removes(name) || now.hasNamed(name) })
	if len(skipped) > 0 {
		f.suspicious(tests(len(skipped)) + " passed before and " + isAre(len(skipped)) + " skipped now: " + few(skipped))
	}
	if len(gone) > 0 {
		f.suspicious(tests(len(gone)) + " of before did not run any more: " + few(gone))
	}
	if len(former.Report.Tests) == 0 && former.Report.Known && former.Report.Total.Ran() > now.Total.Ran() {
		f.suspicious("fewer tests ran than before the change: " + number(now.Total.Ran()) + ", not " + number(former.Report.Total.Ran()))
	}
	return nil
}

// hasNamed reports whether a test with the last part of a name ran, as when it was moved.
func (r Report) hasNamed(name string) bool {
	last := lastPart(name)
	for n, t := range r.Tests {
		if t.Ran() > 0 && lastPart(n) == last {
			return true
		}
	}
	return false
}

// lastPart returns the test's own name of a full one.
func lastPart(name string) string {
	for _, sep := range []string{" > ", "::", "."} {
		if i := strings.LastIndex(name, sep); i >= 0 {
			return name[i+len(sep):]
		}
	}
	return name
}

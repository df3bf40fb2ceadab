package computer

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"choiros/internal/choir"
)

func TestWhatAPageSaysIsBoundedText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want choir.DesktopBroke }{
		{choir.DesktopBroke{Message: " a\x1b[31m\tb\nc\u202e\xff ", File: "src/a-b.c/@d_1.tsx", Line: -1}, choir.DesktopBroke{Message: "a[31m\tb\nc?", File: "src/a-b.c/@d_1.tsx"}},
		{choir.DesktopBroke{Message: "x", File: "it. Log in again at"}, choir.DesktopBroke{Message: "x"}},
		{choir.DesktopBroke{Message: "x", File: "a\nb"}, choir.DesktopBroke{Message: "x"}},
		{choir.DesktopBroke{Message: "x", Line: 1 << 30}, choir.DesktopBroke{Message: "x", Line: maxBrokeLine}},
		{choir.DesktopBroke{Message: "\x00\u2066"}, choir.DesktopBroke{}},
	} {
		if got := cleanBroke(c.in); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
	long := cleanBroke(choir.DesktopBroke{Message: strings.Repeat("ä", maxBrokeMessage), File: strings.Repeat("a", 201)})
	if len(long.Message) > maxBrokeMessage || long.File != "" || !utf8.ValidString(long.Message) {
		t.Errorf("%d bytes, and the file %q", len(long.Message), long.File)
	}
}

func TestAPageInALoopDoesNotFillTheLog(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	var b broken
	for i := range brokeBurst {
		if !b.take(now.Add(time.Duration(i) * time.Second)) {
			t.Fatalf("report %d was refused", i)
		}
	}
	if b.take(now.Add(brokeSpan - 1)) {
		t.Error("one more was taken")
	}
	if !b.take(now.Add(brokeSpan)) || b.take(now.Add(brokeSpan)) {
		t.Error("a minute after the first there is room for one, and for one only")
	}
}

func TestABrokenDesktopIsOfTheRunThatChangedItLast(t *testing.T) {
	l := newLab(t, func(c *labConfig) { c.Source = sourceArchive(t, firstDesktop) })
	l.state()
	report := func(message string) (Broke, error) {
		return l.ReportBroke(l.within(), choir.RoleDesktop, choir.DesktopBroke{Origin: choir.BrokePage, Message: message, File: "src/a.ts", Line: 3})
	}
	if _, err := report("as it came"); choir.CodeOf(err) != choir.CodeConflict {
		t.Fatalf("as it was shipped: %v", err)
	}

	task := l.commands(choir.TaskEditRepo, "echo broken > choiros/src/a.ts")
	l.result(task)
	one := must(report("one"))(t)
	if one.Run != task.RunID {
		t.Errorf("of run %q, the change was of %s", one.Run, task.RunID)
	}
	e := l.waitEvent(ofType("desktop.broke"))
	if p := payload[choir.DesktopBroke](t, e); e.Seq != one.Seq || e.Run != task.RunID || e.Source != choir.SourceDesktop || p.Message != "one" || p.File != "src/a.ts" || p.Line != 3 {
		t.Errorf("%+v: %+v", e, p)
	}
	if again := must(report("one"))(t); again != one {
		t.Errorf("said twice it is %+v", again)
	}
	if got := must(l.SourceBroke(l.within()))(t); got == nil || *got != one {
		t.Errorf("the shell is told %+v", got)
	}

	l.write("choiros/src/b.ts", "by hand\n")
	if got := must(l.SourceBroke(l.within()))(t); got != nil {
		t.Errorf("changed since: %+v", got)
	}
	if two := must(report("one"))(t); two.Run != "" || two.Seq == one.Seq {
		t.Errorf("a person's change: %+v", two)
	}

	// A change that no tool call has ended with yet.
	c := l.working()
	l.sh("echo more > choiros/src/c.ts")
	if three := must(report("three"))(t); three.Run != c.task.RunID {
		t.Errorf("of run %q, at work is %s", three.Run, c.task.RunID)
	}
	if _, err := l.ReportBroke(l.within(), choir.RoleAssociate, choir.DesktopBroke{Origin: choir.BrokePage, Message: "x"}); choir.CodeOf(err) != choir.CodeForbidden {
		t.Errorf("by the Associate: %v", err)
	}
	c.finish()
}

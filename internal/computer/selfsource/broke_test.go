package selfsource

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/eventstore"
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
	limit := newBrokeLimit()
	for i := range brokeBurst {
		if !limit.AllowN(now, 1) {
			t.Fatalf("report %d was refused", i)
		}
	}
	taken := 0
	for range 600 {
		now = now.Add(time.Second)
		if limit.AllowN(now, 1) {
			taken++
		}
	}
	if taken != 10*brokeBurst {
		t.Errorf("%d were taken in ten minutes, want %d", taken, 10*brokeBurst)
	}
}

func TestABrokenDesktopIsOfTheRunThatChangedItLast(t *testing.T) {
	l := newLab(t, firstDesktop)
	report := func(message string) (Broke, error) {
		return l.ReportBroke(l.Within(), choir.RoleDesktop, choir.DesktopBroke{Origin: choir.BrokePage, Message: message, File: "src/a.ts", Line: 3})
	}
	if _, err := report("as it came"); choir.CodeOf(err) != choir.CodeConflict {
		t.Fatalf("as it was shipped: %v", err)
	}

	task := eventstore.Task{ID: workspacetest.NewID(t), Run: workspacetest.NewID(t)}
	l.WriteOutside("choiros/src/a.ts", "broken\n")
	l.Record(&task)
	one := must(report("one"))(t)
	if one.Run != task.Run {
		t.Errorf("of run %q, the change was of %s", one.Run, task.Run)
	}
	told := l.All(choir.TypeDesktopBroke)
	if len(told) != 1 || told[0].Seq != one.Seq || told[0].Run != task.Run || told[0].Source != choir.SourceDesktop {
		t.Errorf("the log has %+v", told)
	}
	if again := must(report("one"))(t); again != one || len(l.All(choir.TypeDesktopBroke)) != 1 {
		t.Errorf("said twice it is %+v", again)
	}
	if got := must(l.Broke(l.Within()))(t); got == nil || *got != one {
		t.Errorf("the shell is told %+v", got)
	}

	l.Write("choiros/src/b.ts", "by hand\n")
	if got := must(l.Broke(l.Within()))(t); got != nil {
		t.Errorf("changed since: %+v", got)
	}
	if two := must(report("two"))(t); two.Run != "" || two.Seq == one.Seq {
		t.Errorf("a person's change: %+v", two)
	}

	// A change that no tool call has ended with yet.
	l.running = workspacetest.NewID(t)
	l.WriteOutside("choiros/src/c.ts", "more\n")
	if three := must(report("three"))(t); three.Run != l.running {
		t.Errorf("of run %q, at work is %s", three.Run, l.running)
	}
	if _, err := l.ReportBroke(l.Within(), choir.RoleAssociate, choir.DesktopBroke{Origin: choir.BrokePage, Message: "x"}); choir.CodeOf(err) != choir.CodeForbidden {
		t.Errorf("by the Associate: %v", err)
	}
}

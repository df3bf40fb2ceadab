package computer

import (
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/selfsource/selfsourcetest"
	"choiros/internal/timeline"
)

// firstDesktop is a desktop that a test ships.
var firstDesktop = map[string]string{"index.html": "<html>\n", "src/a.ts": "1\n2\n3\n", "src/b.ts": "b\n"}

// again stops the computer and opens it as another choir would.
func (l *lab) again(source []byte) *lab {
	l.t.Helper()
	l.stop()
	l.cfg.Source = source
	return openLab(l.t, l.cfg)
}

// wantSource fails the test unless the desktop's source, of a computer that has woken,
// is changed and outdated or not.
func (l *lab) wantSource(when string, changed, outdated bool) {
	l.t.Helper()
	l.guest()
	if got := must(l.Source().Changed(l.within()))(l.t); got != changed {
		l.t.Errorf("%s: changed is %t", when, got)
	}
	if got := must(l.Source().Outdated(l.within()))(l.t); got != outdated {
		l.t.Errorf("%s: outdated is %t", when, got)
	}
}

func TestAnUpgradeOfTheDesktopGoesBackAndForth(t *testing.T) {
	l := newLab(t, func(c *labConfig) { c.Source = selfsourcetest.Pack(t, firstDesktop) })
	l.wantSource("as it came", false, false)

	l = l.again(selfsourcetest.Pack(t, map[string]string{"index.html": "<html>\n", "src/a.ts": "1\n2\nthree\n", "src/b.ts": "b2\n"}))
	l.wantSource("one that nobody changed", false, false)
	if out := l.sh("cat choiros/src/*"); out != "1\n2\nthree\nb2\n" {
		t.Fatalf("it was not replaced: %q", out)
	}
	if e := l.waitEvent(ofType("desktop.upgraded")); e.Source != choir.SourceSystem {
		t.Errorf("the upgrade is said to be by %s", e.Source)
	}
	l.write("choiros/src/a.ts", "one\n2\nthree\n")
	l.write("choiros/src/b.ts", "ours\n")

	l = l.again(selfsourcetest.Pack(t, map[string]string{"index.html": "<html>\n", "src/a.ts": "1\n2\nIII\n", "src/b.ts": "b3\n"}))
	l.wantSource("one that was changed", true, true)
	got := must(l.Source().Upgrade(l.within(), choir.RoleShell, false))(t)
	if out := l.sh("cat choiros/src/*"); out != "one\n2\nIII\nours\n" || len(got.Files) != 2 {
		t.Errorf("the upgrade gives %q: %+v", out, got.Files)
	}
	l.wantSource("after it", true, false)
	marks := must(l.Moments().Marks(l.within(), 1, 0))(t)
	if len(marks) != 1 || marks[0].Seq != got.Receipt.Seq || !strings.Contains(marks[0].Text, "choiros/src/b.ts") {
		t.Errorf("on the time axis: %+v", marks)
	}
	all := l.all("desktop.upgraded")
	p := payload[choir.DesktopUpgraded](t, all[len(all)-1])
	if reached := must(timeline.ReachAll(l.within(), l.store, l.keeper, got.Receipt.Seq))(t); !slices.Contains(reached.Digests, p.Base) {
		t.Error("a collection would remove what the next upgrade is merged from")
	}
	if settings := must(l.desk.Desktop(l.within(), 0))(t).Settings; len(settings) != 0 {
		t.Errorf("settings: %+v", settings)
	}

	rewound(t, l, got.BackSeq)
	l.wantSource("taken back", true, true)
	if out := l.sh("cat choiros/src/*"); out != "one\n2\nthree\nours\n" {
		t.Errorf("taken back it has %q", out)
	}
	rewound(t, l, got.Receipt.Seq)
	l.wantSource("and forth", true, false)
}

func TestABrokenDesktopIsOfTheTaskThatChangedIt(t *testing.T) {
	l := newLab(t, func(c *labConfig) { c.Source = selfsourcetest.Pack(t, firstDesktop) })
	l.guest()
	report := func(message string) choir.ID {
		t.Helper()
		return must(l.Source().ReportBroke(l.within(), choir.RoleDesktop, choir.DesktopBroke{Origin: choir.BrokePage, Message: message}))(t).Run
	}
	task := l.commands(choir.TaskEditRepo, "echo broken > choiros/src/a.ts")
	l.result(task)
	if run := report("one"); run != task.RunID {
		t.Errorf("of run %q, the change was of %s", run, task.RunID)
	}
	// A change that no tool call has ended with yet.
	c := l.working()
	l.sh("echo more > choiros/src/c.ts")
	if run := report("two"); run != c.task.RunID {
		t.Errorf("of run %q, at work is %s", run, c.task.RunID)
	}
	c.finish()
}

package desk

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// drawChange draws an event of the desktop: of four windows, some not open, two settings
// and the theme, or one that changes nothing on it.
func drawChange(t *rapid.T, ids []choir.ID) choir.Payload {
	id := rapid.SampledFrom(ids).Draw(t, "window")
	bounds := choir.Rect{X: rapid.IntRange(0, 3).Draw(t, "x"), Width: 9, Height: 9}
	switch rapid.IntRange(0, 9).Draw(t, "change") {
	case 0, 1:
		return choir.WindowOpened{Window: id, App: "files", Bounds: bounds}
	case 2:
		return choir.WindowMoved{Window: id, Bounds: bounds}
	case 3:
		return choir.WindowShown{Window: id, State: rapid.SampledFrom([]choir.WindowState{choir.WindowNormal, choir.WindowMaximised}).Draw(t, "state")}
	case 4:
		return choir.WindowRetitled{Window: id, Title: rapid.SampledFrom([]string{"", "a"}).Draw(t, "title")}
	case 5:
		return choir.WindowFocused{Window: id}
	case 6:
		return choir.WindowClosed{Window: id}
	case 7:
		return choir.ThemeChanged{Name: rapid.SampledFrom([]string{"light", "dark"}).Draw(t, "theme")}
	case 8:
		return choir.SettingChanged{Key: rapid.SampledFrom([]string{"dock", "theme"}).Draw(t, "key"), Value: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "value")}
	}
	return choir.PromptSubmitted{Text: "no change of the desktop"}
}

// TestMemoryIsTheProjection appends drawn changes and rewinds, some of them while nobody
// reads memory, with rebuilds of the copy between: memory has what the copy has, and so
// has a memory that reads the copy for the first time.
func TestMemoryIsTheProjection(t *testing.T) {
	l := newLab(t)
	ids := []choir.ID{l.newID(), l.newID(), l.newID(), l.newID()}
	rewinds := 0
	rapid.Check(t, func(t *rapid.T) {
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			p := drawChange(t, ids)
			role := choir.RoleDesktop
			if rapid.IntRange(0, 12).Draw(t, "rewind") == 0 {
				p = choir.TimelineRewound{ToSeq: rapid.Uint64Range(1, l.head()).Draw(t, "to"), Snapshot: choir.ZeroHash, Before: choir.ZeroHash}
				role = choir.RoleControl
				rewinds++
			}
			d := must(l.events.Draft(p))(l.t)
			if p.EventType() == choir.TypePromptSubmitted {
				d = d.ForRun(l.newID(), "")
			}
			must(l.log.Append(l.t.Context(), role, d))(l.t)
			if rapid.Bool().Draw(t, "read") {
				l.wantSame(t)
			}
		}
		if rapid.IntRange(0, 20).Draw(t, "rebuild") == 0 {
			if err := l.log.Rebuild(l.t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		l.wantSame(t)
	})
	if rewinds == 0 && !t.Failed() {
		t.Error("nothing was rewound")
	}
}

// wantSame fails when memory, or one that begins now, differs from the copy.
func (l *lab) wantSame(t *rapid.T) {
	ctx := l.t.Context()
	begun := memory{log: l.log}
	now, fresh := must(l.memory.now(ctx))(l.t), must(begun.now(ctx))(l.t)
	copied := must(l.memory.read(ctx, l.head()))(l.t)
	for name, got := range map[string]state{"memory": now, "a new memory": fresh} {
		if fmt.Sprint(got.seq, got.windows) != fmt.Sprint(copied.seq, copied.windows) || !reflect.DeepEqual(desktopOf(got), desktopOf(copied)) {
			t.Fatalf("%s has %+v, the copy %+v", name, got, copied)
		}
	}
}

// countedLog counts the reads of the copy's tables.
type countedLog struct {
	WindowLog
	tables, events int
}

func (c *countedLog) Windows(ctx context.Context, asOf uint64) ([]eventstore.Window, error) {
	c.tables++
	return c.WindowLog.Windows(ctx, asOf)
}

func (c *countedLog) Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error] {
	c.events++
	return c.WindowLog.Events(ctx, from, to)
}

// TestAChangeAsksTheCopyForNothing counts what a hundred moves of a window read.
func TestAChangeAsksTheCopyForNothing(t *testing.T) {
	l := newLab(t)
	counted := &countedLog{WindowLog: l.log}
	l.windows.log, l.memory.log = counted, counted
	ctx := t.Context()
	id, _, err := l.OpenWindow(ctx, choir.RoleDesktop, choir.WindowOpened{App: "files", Bounds: choir.Rect{Width: 9, Height: 9}}, "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		seq := must(l.ChangeWindow(ctx, choir.RoleDesktop, id, "", MoveWindow(&choir.Rect{X: i + 1, Width: 9, Height: 9}, nil)))(t)
		if seq != l.head() {
			t.Errorf("move %d is event %d of %d", i, seq, l.head())
		}
	}
	if counted.tables != 1 || counted.events < 100 {
		t.Errorf("the copy was read %d times and the log %d times", counted.tables, counted.events)
	}
}

package eventstore

import (
	"context"
	"fmt"
	"testing"

	"choiros/internal/choir"
)

// focusedOften is a log with 100 prompts and, between them, so many events in all that
// are no marks.
func focusedOften(t testing.TB, events int) *Store {
	t.Helper()
	s := open(t, t.TempDir())
	window := newID()
	for range 100 {
		drafts := []choir.Draft{draft(t, choir.PromptSubmitted{Text: "x"}, newID(), "")}
		for range events / 100 {
			drafts = append(drafts, draft(t, choir.WindowFocused{Window: window}, "", ""))
		}
		for len(drafts) > 0 {
			n := min(len(drafts), 256)
			must[[]choir.Receipt](t)(s.Append(context.Background(), choir.RoleShell, drafts[:n]...))
			drafts = drafts[n:]
		}
	}
	return s
}

// BenchmarkMarks reads the newest 50 marks of a log without other events and of one
// with 60,000: the two must cost the same.
func BenchmarkMarks(b *testing.B) {
	for _, events := range []int{0, 60_000} {
		s := focusedOften(b, events)
		b.Run(fmt.Sprintf("after-%d", events), func(b *testing.B) {
			for b.Loop() {
				if marks, err := s.Marks(context.Background(), 50, 0); err != nil || len(marks) != 50 {
					b.Fatal(len(marks), err)
				}
			}
		})
	}
}

// TestAStreakOfManyWindowsKeepsABoundedMark: a page can open any number of them.
func TestAStreakOfManyWindowsKeepsABoundedMark(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for i := range maxTrail + 10 {
		add(t, s, "", "", choir.WindowOpened{Window: newID(), App: "files", Title: fmt.Sprint(i), Bounds: choir.Rect{Width: 4, Height: 3}})
	}
	marks := must[[]Mark](t)(s.Marks(context.Background(), 9, 0))
	if len(marks) != 1 || len(marks[0].Windows) != maxTrail || marks[0].More != 10 || marks[0].Windows[0].Name != fmt.Sprint(maxTrail+9) {
		t.Errorf("%+v", marks)
	}
}

// TestAMarkWhoseRowIsDamagedComesFromTheJournal: the SQLite copy is not all there is.
func TestAMarkWhoseRowIsDamagedComesFromTheJournal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	add(t, s, newID(), "", choir.PromptSubmitted{Text: "one"})
	add(t, s, newID(), "", choir.PromptSubmitted{Text: "two"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sqlIn(t, dir, "UPDATE events SET event = replace(event, 'one', 'eno') WHERE seq = 1")
	s = open(t, dir)
	marks := must[[]Mark](t)(s.Marks(context.Background(), 9, 0))
	if len(marks) != 2 || marks[1].Event.Seq != 1 || marks[1].Event.Type != choir.TypePromptSubmitted {
		t.Errorf("%+v", marks)
	}
}

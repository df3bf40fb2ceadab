package eventstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// closedWith makes a log of so many events in a folder, closed.
func closedWith(t *testing.T, dir string, events int) {
	t.Helper()
	s := open(t, dir)
	for i := range events {
		add(t, s, newID(), "", choir.PromptSubmitted{Text: fmt.Sprint(i)})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// wantCursor fails the test unless a cursor stands at an event.
func wantCursor(t *testing.T, s *Store, name string, want uint64) {
	t.Helper()
	if at, err := s.Cursor(name).Load(t.Context()); err != nil || at != want {
		t.Errorf("the cursor %s stands at %d, %v; want %d", name, at, err, want)
	}
}

func TestACursorOutlivesARestartAndIsOneReadersAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	closedWith(t, dir, 10)
	s := open(t, dir)
	wantCursor(t, s, "relay", 0)
	if err := s.Cursor("relay").Save(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	wantCursor(t, s, "relay", 7)
	wantCursor(t, s, "other", 0)
	if err := s.Cursor("relay").Save(t.Context(), 11); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("it was moved to an event that is not there: %v", err)
	}
	wantCursor(t, s, "relay", 7)
	if err := s.Cursor("relay").Save(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	wantCursor(t, s, "relay", 0)
}

// TestACursorThatIsNotOfThisLogIsNamed: one ahead of it, as after an older state of the folder came back, and
// one of another log.
func TestACursorThatIsNotOfThisLogIsNamed(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]string{
		"ahead of the log": "('relay', 900, '" + string(choir.ZeroHash) + "')",
		"of another log":   "('relay', 2, '" + string(choir.DigestOf([]byte("x"))) + "')",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			closedWith(t, dir, 5)
			sqlIn(t, dir, "REPLACE INTO cursors VALUES "+row)
			s := open(t, dir)
			at, err := s.Cursor("relay").Load(t.Context())
			if at != 0 || !errors.Is(err, ErrAhead) || choir.CodeOf(err) != choir.CodeConflict || !strings.Contains(err.Error(), "relay") {
				t.Errorf("the cursor gives %d, %v", at, err)
			}
			if err := s.Cursor("relay").Save(t.Context(), 5); err != nil {
				t.Fatal(err)
			}
			wantCursor(t, s, "relay", 5)
		})
	}
}

// TestCursorsOutliveARemakeOfTheCopy: only the projections are made anew.
func TestCursorsOutliveARemakeOfTheCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	closedWith(t, dir, 5)
	s := open(t, dir)
	if err := s.Cursor("relay").Save(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	for what, again := range map[string]func(context.Context) error{"rebuild": s.Rebuild, "remake": s.remakeSQLite} {
		if err := again(t.Context()); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		wantCursor(t, s, "relay", 5)
	}
}

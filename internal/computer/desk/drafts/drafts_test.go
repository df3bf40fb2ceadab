package drafts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"choiros/internal/choir"
)

func newStore(t *testing.T, path string) *Store {
	s := New(path, func() time.Time { return time.UnixMilli(42) })
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func put(t *testing.T, s *Store, d Draft, made int64) Draft {
	t.Helper()
	now, err := s.Put(t.Context(), d, made)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

func TestADraftIsThereUntilItIsDropped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "drafts.sqlite")
	s := newStore(t, path)
	if list, err := s.List(t.Context()); err != nil || len(list) != 0 {
		t.Fatalf("at first: %+v %v", list, err)
	}
	first := put(t, s, Draft{App: "code", Subject: "a.go", Base: "d1", Text: "one"}, 0)
	second := put(t, s, Draft{App: "code", Subject: "a.go", Base: "d1", Text: "two"}, first.Revision)
	other := put(t, s, Draft{App: "writer", Subject: "a.go", Text: "words"}, 0)
	if second.Revision <= first.Revision || second.Size != 3 || second.At != 42 {
		t.Errorf("%+v, then %+v", first, second)
	}
	if again := put(t, s, Draft{App: "code", Subject: "a.go", Base: "d1", Text: "two"}, 0); again.Revision != second.Revision {
		t.Errorf("the same text is another revision: %+v", again)
	}

	// Another process finds what was acknowledged, without this one having closed.
	next := newStore(t, path)
	got, err := next.Get(t.Context(), "code", "a.go")
	if err != nil || got != second {
		t.Errorf("%+v %v, want %+v", got, err, second)
	}
	list, err := next.List(t.Context())
	if err != nil || len(list) != 2 || list[0].Revision != other.Revision || list[1].Text != "" {
		t.Errorf("%+v %v", list, err)
	}
	if _, dropped, err := next.Drop(t.Context(), "code", "a.go", second.Revision); err != nil || !dropped {
		t.Errorf("%t %v", dropped, err)
	}
	if _, dropped, err := next.Drop(t.Context(), "code", "a.go", second.Revision); err != nil || dropped {
		t.Errorf("a second time: %t %v", dropped, err)
	}
	if _, err := next.Get(t.Context(), "code", "a.go"); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("%v", err)
	}
	if anew := put(t, next, Draft{App: "code", Subject: "a.go", Text: "three"}, 0); anew.Revision <= other.Revision {
		t.Errorf("a revision came again: %+v", anew)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestAChangeOfAnotherRevisionGetsTheDraftThatIsThere(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "drafts.sqlite"))
	first := put(t, s, Draft{App: "code", Subject: "a.go", Text: "one"}, 0)
	now := put(t, s, Draft{App: "code", Subject: "a.go", Text: "two"}, first.Revision)
	for _, made := range []int64{0, first.Revision, now.Revision + 1} {
		got, err := s.Put(t.Context(), Draft{App: "code", Subject: "a.go", Text: "mine"}, made)
		if choir.CodeOf(err) != choir.CodeConflict || got != now {
			t.Errorf("made of %d: %+v %v", made, got, err)
		}
	}
	if got, dropped, err := s.Drop(t.Context(), "code", "a.go", first.Revision); choir.CodeOf(err) != choir.CodeConflict || dropped || got != now {
		t.Errorf("%+v %t %v", got, dropped, err)
	}
	mine := put(t, s, Draft{App: "code", Subject: "c.go", Text: "one", By: "page"}, 0)
	if again := put(t, s, Draft{App: "code", Subject: "c.go", Text: "two", By: "page"}, 0); again.Revision <= mine.Revision {
		t.Errorf("a page's own next words: %+v", again)
	}
	if _, err := s.Put(t.Context(), Draft{App: "code", Subject: "c.go", Text: "three", By: "other"}, mine.Revision); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("another page: %v", err)
	}
	// The words that a page sends while it is left overtake those that are on their way.
	last := put(t, s, Draft{App: "code", Subject: "d.go", Text: "a and my last words", By: "page", Turn: 2}, 0)
	if got, err := s.Put(t.Context(), Draft{App: "code", Subject: "d.go", Text: "a and", By: "page", Turn: 1}, 0); choir.CodeOf(err) != choir.CodeConflict || got != last {
		t.Errorf("an earlier turn: %+v %v", got, err)
	}
	put(t, s, Draft{App: "code", Subject: "d.go", Text: "more", By: "page", Turn: 3}, 0)
	if _, err := s.Put(t.Context(), Draft{App: "code", Subject: "e.go", Text: "x", By: "page\n7"}, 0); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("a page of two lines: %v", err)
	}
	got, err := s.Put(t.Context(), Draft{App: "code", Subject: "b.go", Text: "mine"}, now.Revision)
	if choir.CodeOf(err) != choir.CodeConflict || got != (Draft{}) {
		t.Errorf("of one that is gone: %+v %v", got, err)
	}
}

func TestDraftsAreBounded(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "drafts.sqlite"))
	s.limits = limits{text: 10, total: 30, count: 4}
	full := strings.Repeat("x", 10)
	if _, err := s.Put(t.Context(), Draft{App: "code", Subject: "large", Text: full + "x"}, 0); choir.CodeOf(err) != choir.CodeTooLarge {
		t.Errorf("%v", err)
	}
	var last Draft
	for i := range 3 {
		last = put(t, s, Draft{App: "code", Subject: string(rune('a' + i)), Text: full}, 0)
	}
	if _, err := s.Put(t.Context(), Draft{App: "code", Subject: "more", Text: "x"}, 0); choir.CodeOf(err) != choir.CodeTooLarge {
		t.Errorf("%v", err)
	}
	last = put(t, s, Draft{App: "code", Subject: last.Subject, Text: full[1:]}, last.Revision)
	put(t, s, Draft{App: "code", Subject: "more", Text: "x"}, 0)
	put(t, s, Draft{App: "code", Subject: last.Subject, Text: ""}, last.Revision)
	if _, err := s.Put(t.Context(), Draft{App: "code", Subject: "a fifth", Text: "x"}, 0); choir.CodeOf(err) != choir.CodeTooLarge {
		t.Errorf("%v", err)
	}
}

func TestAFileThatIsNoneSaysWhatToDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "drafts.sqlite")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database. ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := newStore(t, path).List(t.Context())
	if choir.CodeOf(err) != choir.CodeCorrupt || choir.ProblemOf(err).Remedy == "" {
		t.Errorf("%v", err)
	}
}

func TestAFileOfANewerChoirIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "drafts.sqlite")
	s := newStore(t, path)
	put(t, s, Draft{App: "code", Subject: "a.go", Text: "one"}, 0)
	if err := s.use(t.Context(), func(conn *sqlite.Conn) error {
		return sqlitex.ExecuteTransient(conn, "PRAGMA user_version = 2", nil)
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := newStore(t, path).List(t.Context()); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("%v", err)
	}
}

func TestTextThatWasDroppedIsNotInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "drafts.sqlite")
	s := New(path, time.Now)
	d := put(t, s, Draft{App: "code", Subject: "a.go", Text: "a word for nobody else"}, 0)
	if _, _, err := s.Drop(t.Context(), "code", "a.go", d.Revision); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // which empties the WAL
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(raw), "for nobody else") {
		t.Errorf("it is still there, %v", err)
	}
}

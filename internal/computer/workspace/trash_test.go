package workspace

import (
	"io"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/guest"
)

func TestWhatPeopleDoWithFiles(t *testing.T) {
	l := newLab(t)
	ctx := l.within()
	write := func(path, content string) choir.FileState {
		t.Helper()
		return must(l.WriteFile(ctx, choir.RoleDesktop, path, strings.NewReader(content), Expect{}))(t)
	}
	names := func(path string) (out []string) {
		t.Helper()
		for _, e := range must(l.ListFolder(ctx, path, "", 0))(t).Entries {
			out = append(out, e.Path)
		}
		return out
	}
	a := write("d/a", "a")
	begins, _ := l.log.Head()
	write("d/x/b", "b")
	if got := must(l.MakeFolder(ctx, choir.RoleDesktop, "d/new/empty"))(t); got.Kind != "dir" {
		t.Errorf("a new folder: %+v", got)
	}
	page := must(l.ListFolder(ctx, "d", "", 0))(t)
	if got := names("d"); !slices.Equal(got, []string{"d/a", "d/new", "d/x"}) || page.Entries[0].Digest != a.Digest {
		t.Fatalf("d holds %v, %+v", got, page.Entries)
	}
	if got := names("d/new/empty"); len(got) != 0 {
		t.Errorf("an empty folder holds %v", got)
	}
	if page := must(l.ListFolder(ctx, "d", "a", 1))(t); len(page.Entries) != 1 || page.Entries[0].Path != "d/new" || !page.More {
		t.Errorf("a page: %+v", page)
	}

	// Nothing of a move is done unless all of it can be.
	_, err := l.Move(ctx, choir.RoleDesktop, []Transfer{{From: "d/a", To: "d/A"}, {From: "d/none", To: "e"}})
	l.wantCode(err, choir.CodeNotFound)
	_, err = l.Move(ctx, choir.RoleDesktop, []Transfer{{From: "d/a", To: "d/x/b"}})
	l.wantCode(err, choir.CodeConflict)
	_, err = l.Move(ctx, choir.RoleDesktop, []Transfer{{From: "d/a", To: "d/A", Want: Expect{Digest: choir.DigestOf([]byte("other"))}}})
	l.wantCode(err, choir.CodeConflict)
	for _, bad := range []Transfer{{From: "d", To: "d/x/d"}, {From: "d/a", To: "d/a"}, {From: "../a", To: "b"}, {From: "d/a", To: "/etc/x"}, {From: "d/x", To: "d", Replace: &Expect{}}} {
		_, err := l.Move(ctx, choir.RoleDesktop, []Transfer{bad})
		l.wantCode(err, choir.CodeInvalid)
	}
	if got := must(l.Move(ctx, choir.RoleDesktop, []Transfer{{From: "d/a", To: "d/A", Want: Expect{Digest: a.Digest}}}))(t); got[0].Path != "d/A" || got[0].Digest != a.Digest {
		t.Errorf("in other letters: %+v", got)
	}
	if got := must(l.Copy(ctx, choir.RoleDesktop, []Transfer{{From: "d", To: "copies/d"}}))(t); got[0].Kind != "dir" {
		t.Errorf("a copy: %+v", got)
	}
	if got := names("copies/d"); !slices.Equal(got, []string{"copies/d/A", "copies/d/new", "copies/d/x"}) {
		t.Errorf("the copy holds %v", got)
	}

	// What is replaced goes to the trash.
	must(l.Move(ctx, choir.RoleDesktop, []Transfer{{From: "d/A", To: "d/x/b", Replace: &Expect{}}}))(t)
	trash := must(l.Trash(ctx))(t)
	if len(trash) != 1 || trash[0].From != "d/x/b" || trash[0].File.Kind != "file" {
		t.Fatalf("the trash: %+v", trash)
	}
	_, err = l.Restore(ctx, choir.RoleDesktop, trash[0].ID, "")
	l.wantCode(err, choir.CodeConflict)
	if got := must(l.Restore(ctx, choir.RoleDesktop, trash[0].ID, "back/b"))(t); got.Digest != choir.DigestOf([]byte("b")) {
		t.Errorf("restored: %+v", got)
	}

	// Away, back, and away for good.
	thrown := must(l.Discard(ctx, choir.RoleDesktop, []Discarding{{Path: "copies"}, {Path: "back/b"}}))(t)
	if got := names(""); slices.Contains(got, "copies") || len(thrown) != 2 || thrown[1].File.Digest == "" {
		t.Errorf("after throwing away: %v, %+v", got, thrown)
	}
	if got := must(l.Find(ctx, "", guest.FindSpec{Name: "copies"}, 10))(t); len(got.Matches) != 0 {
		t.Errorf("found in the trash: %+v", got)
	}
	must(l.Restore(ctx, choir.RoleDesktop, thrown[0].ID, ""))(t)
	if got := names("copies/d/x"); !slices.Equal(got, []string{"copies/d/x/b"}) {
		t.Errorf("restored: %v", got)
	}
	_, err = l.Restore(ctx, choir.RoleDesktop, thrown[0].ID, "")
	l.wantCode(err, choir.CodeNotFound)
	if err := l.EmptyTrash(ctx, choir.RoleDesktop, ""); err != nil {
		t.Fatal(err)
	}
	if trash := must(l.Trash(ctx))(t); len(trash) != 0 {
		t.Errorf("after emptying: %+v", trash)
	}
	l.wantCode(l.EmptyTrash(ctx, choir.RoleDesktop, thrown[0].ID), choir.CodeNotFound)
	for _, bad := range []string{".trash", ".trash/x", ".git", "a/../b", "/a"} {
		if _, err := l.Discard(ctx, choir.RoleDesktop, []Discarding{{Path: bad}}); err == nil {
			t.Errorf("%q was thrown away", bad)
		}
	}
	l.everyFileEventIsTheDesktops(begins)
}

// everyFileEventIsTheDesktops looks for changes that were told as another's.
func (l *lab) everyFileEventIsTheDesktops(after uint64) {
	l.t.Helper()
	events := must(l.log.EventsAfter(l.within(), after, choir.MaxEventsAfter))(l.t)
	told := 0
	for _, e := range events {
		if e.Type == "file.written" || e.Type == "file.removed" {
			told++
			if e.Source != choir.SourceDesktop {
				l.t.Errorf("event %d is by %s: %s", e.Seq, e.Source, e.Payload)
			}
		}
	}
	if told == 0 {
		l.t.Error("no event tells of files")
	}
}

func TestAFileIsReadAsItIs(t *testing.T) {
	l := newLab(t)
	ctx := l.within()
	must(l.WriteFile(ctx, choir.RoleDesktop, "f", strings.NewReader("0123456789"), Expect{}))(t)
	state, r, err := l.OpenFile(ctx, "f")
	if err != nil || state.Digest != choir.DigestOf([]byte("0123456789")) {
		t.Fatalf("%+v, %v", state, err)
	}
	defer r.Close()
	for _, c := range []struct {
		offset int64
		whence int
		want   string
	}{{7, io.SeekStart, "789"}, {0, io.SeekStart, "0123456789"}, {-2, io.SeekEnd, "89"}, {0, io.SeekEnd, ""}} {
		if _, err := r.Seek(c.offset, c.whence); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); string(got) != c.want || err != nil {
			t.Errorf("from %d: %q, %v", c.offset, got, err)
		}
	}
	// What nobody has recorded yet is read as well.
	must(l.client.WriteFile(ctx, "f", 0, strings.NewReader("changed outside")))(t)
	state, again, err := l.OpenFile(ctx, "f")
	if err != nil || state.Digest != choir.DigestOf([]byte("changed outside")) {
		t.Fatalf("%+v, %v", state, err)
	}
	defer again.Close()
	if got, err := io.ReadAll(again); string(got) != "changed outside" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for path, code := range map[string]choir.Code{"none": choir.CodeNotFound, "../x": choir.CodeInvalid, ".git/config": choir.CodeRefused} {
		_, _, err := l.OpenFile(ctx, path)
		l.wantCode(err, code)
	}
}

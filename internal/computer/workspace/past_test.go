package workspace

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"choiros/internal/choir"
)

func TestThePastIsReadAsItWas(t *testing.T) {
	l := newLab(t)
	l.outside("repo/.git/HEAD", "ref")
	if err := os.Symlink("nowhere", filepath.Join(l.dir, "link")); err != nil {
		t.Fatal(err)
	}
	l.write("dir/a b%25.txt", "then\n")
	l.write("dir/z", "z")
	then := l.head()
	l.write("dir/a b%25.txt", "now\n")
	must(l.Discard(l.within(), choir.RoleShell, []Discarding{{Path: "dir/z"}, {Path: "repo"}, {Path: "link"}}))(t)

	state, content, err := l.ReadFileAt(l.within(), then, "dir/a b%25.txt")
	if err != nil {
		t.Fatal(err)
	}
	if raw := must(io.ReadAll(content))(t); string(raw) != "then\n" || state.Digest != choir.DigestOf(raw) || content.Close() != nil {
		t.Errorf("the file was %q", raw)
	}
	for path, want := range map[string][]string{
		"": {"dir dir", "symlink link", "dir repo"}, "repo/.git": {"file repo/.git/HEAD"}, "dir/z": {"file dir/z"},
	} {
		var had []string
		for _, e := range must(l.FolderAt(l.within(), then, path))(t) {
			had = append(had, e.Kind+" "+e.Path)
		}
		if !slices.Equal(had, want) {
			t.Errorf("%q had %q, want %q", path, had, want)
		}
	}
	page := must(l.ListFolderAt(l.within(), then, "", "dir", 1))(t)
	if len(page.Entries) != 1 || page.Entries[0].Path != "link" || !page.More || page.Folder.MTime == 0 {
		t.Errorf("a page: %+v", page)
	}
	for path, want := range map[string]choir.Code{
		"none": choir.CodeNotFound, "dir": choir.CodeConflict, "link": choir.CodeConflict, "link/x": choir.CodeRefused, "a%zz": choir.CodeInvalid,
	} {
		_, _, err := l.ReadFileAt(l.within(), then, path)
		l.wantCode(err, want)
	}
	for seq, want := range map[uint64]choir.Code{0: choir.CodeInvalid, 1: choir.CodeNotFound, l.head() + 1: choir.CodeNotFound} {
		_, err := l.FolderAt(l.within(), seq, "")
		l.wantCode(err, want)
	}
}

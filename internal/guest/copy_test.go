package guest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

func TestACopyIsTheWholeTree(t *testing.T) {
	t.Parallel()
	in, ctx := serve(t, nil), within(t)
	put(t, in.workspace, "d/x/file", "content")
	put(t, in.workspace, "d/bad\xffname", "")
	then := time.Unix(1_000_000_000, 123456789)
	for _, err := range []error{
		os.Mkdir(filepath.Join(in.workspace, "d/empty"), 0o700),
		os.Symlink("../outside", filepath.Join(in.workspace, "d/link")),
		os.Chmod(filepath.Join(in.workspace, "d/x/file"), 0o640),
		os.Chtimes(filepath.Join(in.workspace, "d/x/file"), then, then),
		os.Chmod(filepath.Join(in.workspace, "d/x"), 0o550),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	files, bytes, err := in.Copy(ctx, "d", "e")
	if err != nil || files != 6 || bytes != 7 {
		t.Fatalf("copied %d, %d bytes, %v", files, bytes, err)
	}
	st, err := os.Stat(filepath.Join(in.workspace, "e/x/file"))
	if err != nil || st.Mode().Perm() != 0o640 || !st.ModTime().Equal(then) {
		t.Errorf("the file: %+v, %v", st, err)
	}
	if target, err := os.Readlink(filepath.Join(in.workspace, "e/link")); target != "../outside" {
		t.Errorf("the link: %q, %v", target, err)
	}
	for _, path := range []string{"e/empty", "e/bad\xffname"} {
		if _, err := os.Lstat(filepath.Join(in.workspace, path)); err != nil {
			t.Error(err)
		}
	}
	_, _, err = in.Copy(ctx, "d/x/file", "e")
	wantCode(t, err, choir.CodeConflict)
	// Into itself it ends, because the copy does not copy itself.
	if _, _, err := in.Copy(ctx, "d", "d/again"); err != nil {
		t.Errorf("into itself: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(in.workspace, "d/again/again")); !os.IsNotExist(err) {
		t.Errorf("it copied itself: %v", err)
	}
}

func TestACopyThatCannotBeLeavesNothing(t *testing.T) {
	t.Parallel()
	in, ctx := serve(t, nil), within(t)
	outsider(t, in)
	put(t, in.workspace, "d/file", "x")
	if err := unix.Mkfifo(filepath.Join(in.workspace, "d/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := in.Copy(ctx, "d", "copy")
	wantCode(t, err, choir.CodeRefused)
	_, _, err = in.Copy(ctx, "dir/secret", "copy")
	wantCode(t, err, choir.CodeRefused)
	_, _, err = in.Copy(ctx, "d/file", "dir/secret2")
	wantCode(t, err, choir.CodeRefused)
	_, _, err = in.Copy(ctx, "none", "copy")
	wantCode(t, err, choir.CodeNotFound)
	big, err := os.Create(filepath.Join(in.workspace, "d/big"))
	if err == nil {
		err = big.Truncate(maxCopyBytes + 1)
	}
	if err != nil || big.Close() != nil {
		t.Fatal(err)
	}
	_, _, err = in.Copy(ctx, "d/big", "copy")
	wantCode(t, err, choir.CodeTooLarge)
	left, _ := os.ReadDir(in.workspace)
	if len(left) != 5 { // d and the four links
		t.Errorf("left %v", left)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	in, ctx := serve(t, nil), within(t)
	outsider(t, in)
	put(t, in.workspace, "a/Notes.md", "first\nsecond needle line\nneedle")
	put(t, in.workspace, "a/.git/notes", "needle")
	put(t, in.workspace, ".trash/notes", "needle")
	put(t, in.workspace, "b/binary", "\x00needle")
	put(t, in.workspace, "b/long", "xxx")
	look := func(path string, spec FindSpec, limit int) Found {
		t.Helper()
		f, err := in.Find(ctx, path, spec, []string{".trash"}, limit)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if f := look("", FindSpec{Name: "NOTES"}, 0); len(f.Matches) != 1 || f.Matches[0].File.Path != "a/Notes.md" || f.Cut {
		t.Errorf("by name: %+v", f)
	}
	if f := look("", FindSpec{Content: "needle"}, 0); len(f.Matches) != 1 || f.Matches[0].Line != 2 || f.Matches[0].Text != "second needle line" {
		t.Errorf("by content: %+v", f)
	}
	if f := look("b", FindSpec{Content: "needle"}, 0); len(f.Matches) != 0 {
		t.Errorf("elsewhere: %+v", f)
	}
	if f := look("", FindSpec{Name: "n"}, 1); len(f.Matches) != 1 || !f.Cut {
		t.Errorf("up to a limit: %+v", f)
	}
	_, err := in.Find(ctx, "", FindSpec{}, nil, 0)
	wantCode(t, err, choir.CodeInvalid)
	_, err = in.Find(ctx, "dir", FindSpec{Name: "secret"}, nil, 0)
	wantCode(t, err, choir.CodeRefused)
}

// TestASearchGoesNoDeeperThanASnapshot searches folders below each other whose paths together would fill
// the memory of a sandbox, and more of them than a process has descriptors for.
func TestASearchGoesNoDeeperThanASnapshot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ name, found string }{
		"long names":  {strings.Repeat("%", 255), "below the path of a folder that is too long"},
		"short names": {"d", "below too many folders"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := serve(t, nil)
			put(t, in.workspace, "needle", "")
			at, err := os.OpenRoot(in.workspace)
			for range snapshot.MaxDepth + 500 {
				if err == nil {
					err = at.Mkdir(c.name, 0o755)
				}
				if err == nil {
					var below *os.Root
					below, err = at.OpenRoot(c.name)
					at.Close()
					at = below
				}
			}
			if err == nil {
				err = at.WriteFile("needle", nil, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			at.Close()
			f, err := in.Find(within(t), "", FindSpec{Name: "needle"}, nil, 0)
			if err != nil || len(f.Matches) != 1 || f.Matches[0].File.Path != "needle" {
				t.Errorf("%s something is found: %d, %v", c.found, len(f.Matches), err)
			}
		})
	}
}

package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
)

func TestAWriteIsHeldAgainstWhatTheOwnerSaw(t *testing.T) {
	l := newLab(t)
	first := l.write("x.txt", "one\n")
	l.outside("x.txt", "two\n")
	now, err := l.WriteFile(l.within(), choir.RoleShell, "x.txt", strings.NewReader("three\n"), Expect{Digest: first.Digest})
	if choir.CodeOf(err) != choir.CodeConflict || now.Digest != choir.DigestOf([]byte("two\n")) {
		t.Fatalf("got %v with %v", err, now)
	}
	if _, err := l.WriteFile(l.within(), choir.RoleShell, "x.txt", strings.NewReader("three\n"), Expect{Absent: true}); choir.CodeOf(err) != choir.CodeConflict {
		t.Fatalf("a file that is there: %v", err)
	}
	if _, err := l.WriteFile(l.within(), choir.RoleShell, "x.txt", strings.NewReader("three\n"), Expect{Digest: now.Digest}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.RemoveFile(l.within(), choir.RoleShell, "x.txt", Expect{Digest: now.Digest}); choir.CodeOf(err) != choir.CodeConflict {
		t.Fatalf("removing what was changed: %v", err)
	}
	if _, err := l.RemoveFile(l.within(), choir.RoleShell, "x.txt", Expect{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.RemoveFile(l.within(), choir.RoleShell, "x.txt", Expect{}); choir.CodeOf(err) != choir.CodeNotFound {
		t.Fatalf("removing what is gone: %v", err)
	}
	for name, target := range map[string]string{"out": "/etc", "in": "d"} {
		if err := os.Symlink(target, filepath.Join(l.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]choir.Code{
		"": choir.CodeInvalid, "../x": choir.CodeInvalid, "a//b": choir.CodeInvalid, "/x": choir.CodeInvalid, "a/.git/config": choir.CodeRefused,
		"out/x": choir.CodeRefused, "in/x": choir.CodeRefused, "out": choir.CodeRefused, strings.Repeat("n", 300): choir.CodeInvalid,
	} {
		if _, err := l.WriteFile(l.within(), choir.RoleShell, path, strings.NewReader("x"), Expect{}); choir.CodeOf(err) != want {
			t.Errorf("%q: got %v, want %s", path, err, want)
		}
	}
	if _, err := l.WriteFile(l.within(), choir.RoleShell, "big", &endless{}, Expect{}); choir.CodeOf(err) != choir.CodeTooLarge {
		t.Errorf("without an end: %v", err)
	}
}

// endless never ends.
type endless struct{}

func (*endless) Read(b []byte) (int, error) { return len(b), nil }

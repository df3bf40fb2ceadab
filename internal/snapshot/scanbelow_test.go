package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/choir"
)

// whole is what a scanner that knows nothing finds.
func whole(t *testing.T, root string) Result {
	t.Helper()
	r, err := NewScanner(root, ScanConfig{}).Scan(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestScanBelowSeesItsFoldersAndNothingElse(t *testing.T) {
	t.Parallel()
	root := growTree(t, 120)
	put := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := NewScanner(root, ScanConfig{})
	objects := map[choir.Digest]bool{}
	scan := func(folders ...string) Result {
		t.Helper()
		r, err := s.ScanBelow(context.Background(), folders, func(o Object) error {
			objects[o.Digest] = true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := scan("d000/e00") // nothing is known yet: everything is looked at
	if diff := cmp.Diff(whole(t, root).Root, first.Root); diff != "" {
		t.Fatal(diff)
	}
	put("d000/e00/new", "inside")
	put("d000/e01/file07.go", "rewritten")
	inside := whole(t, root)
	outside := scan("d000/e00")
	if outside.Root == inside.Root || outside.Root == first.Root || outside.Files != first.Files+1 || !objects[outside.Root] {
		t.Errorf("%+v after %+v; the whole tree is %+v", outside, first, inside)
	}
	if !objects[choir.DigestOf([]byte("inside"))] || objects[choir.DigestOf([]byte("rewritten"))] {
		t.Error("not the contents of the folder were emitted")
	}
	if both := scan("d000/e00", "d000/e01"); both.Root != inside.Root || both.Bytes != inside.Bytes {
		t.Errorf("%+v, want %+v", both, inside)
	}
	put("d000/e02/file00.go", "seen by the next scan")
	if now := scan(); now.Root != whole(t, root).Root {
		t.Error("a scan of everything missed a change that ScanBelow did not look at")
	}
	if err := os.Mkdir(filepath.Join(root, "d000/fresh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, unknown := range []string{"d000/fresh", "d000/absent", "d000/e00/new", "d000/e00/new/below"} {
		put("d000/e01/file07.go", unknown)
		if now := scan("d000/e02", unknown); now.Root != whole(t, root).Root {
			t.Errorf("with the unknown folder %s not everything was looked at", unknown)
		}
	}
}

func TestScanOnlyRefusesWhatIsNoPathBelow(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "/a", "a//b", "../a", "a/..", "a/.", "%zz"} {
		if got, err := ScanOnly([]string{bad}); choir.CodeOf(err) != choir.CodeInvalid {
			t.Errorf("%q: %q, %v", bad, got, err)
		}
	}
	got, err := ScanOnly([]string{"workspace/a/.git", "100%25"})
	if diff := cmp.Diff([]string{"workspace/a/.git", "100%"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

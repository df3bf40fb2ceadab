package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// TestFoldersTooDeepAreNotCopied copies folders below each other: as many as a copy may have, and
// more, of which it has no files left open.
func TestFoldersTooDeepAreNotCopied(t *testing.T) {
	t.Parallel()
	for depth, want := range map[int]choir.Code{maxDepth - 1: "", maxDepth + 1: choir.CodeTooLarge} {
		from, to := t.TempDir(), t.TempDir()
		deep := strings.Repeat("d/", depth)
		if err := os.MkdirAll(filepath.Join(from, deep), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, deep, "f"), []byte("deep"), 0o640); err != nil {
			t.Fatal(err)
		}
		err := CopyTree(t.Context(), from, to, ".", true)
		if code := choir.CodeOf(err); code != want && (err != nil || want != "") {
			t.Errorf("%d: %v", depth, err)
		}
		if want != "" {
			continue
		}
		info, err := os.Stat(filepath.Join(to, deep, "f"))
		if err != nil || info.Size() != 4 || info.Mode().Perm() != 0o640 {
			t.Errorf("%v, %v", info, err)
		}
	}
}

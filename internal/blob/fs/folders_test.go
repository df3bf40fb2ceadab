package fs_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/choir"
)

// A copy that left empty folders out, such as a backup, is whole again.
func TestOpenMakesTheFoldersThatAreMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir)
	d := choir.DigestOf([]byte("hello"))
	if err := os.Remove(filepath.Join(dir, string(d[:2]))); err != nil {
		t.Fatal(err)
	}
	b, err := open(t, dir).Batch(context.Background())
	if err == nil {
		err = b.Add(d, []byte("hello"))
	}
	if err == nil {
		err = b.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

package foldersize_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/foldersize"
)

func TestAFolderIsSummedAndNothingOutsideOfIt(t *testing.T) {
	t.Parallel()
	outside, dir := t.TempDir(), t.TempDir()
	big := make([]byte, 1<<20)
	for i := range big {
		big[i] = byte(i)
	}
	for _, path := range []string{filepath.Join(outside, "big"), filepath.Join(dir, "a", "b", "mine")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, big, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(outside, filepath.Join(dir, "link")), os.Symlink("/", filepath.Join(dir, "a", "root"))); err != nil {
		t.Fatal(err)
	}
	got, err := foldersize.Of(t.Context(), dir, 1000)
	if err != nil || got.Entries != 6 || got.Bytes < 1<<20 || got.Bytes > 1<<20+1<<16 || got.Cut {
		t.Errorf("%+v %v", got, err)
	}
	none, err := foldersize.Of(t.Context(), filepath.Join(dir, "none"), 1000)
	if err != nil || none != (foldersize.Size{}) {
		t.Errorf("a folder that is not there: %+v %v", none, err)
	}
}

func TestASumEndsAtItsBoundAndWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 50 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := foldersize.Of(t.Context(), dir, 10); err != nil || got.Entries != 10 || !got.Cut {
		t.Errorf("%+v %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := foldersize.Of(ctx, dir, 1000); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context: %v", err)
	}
}

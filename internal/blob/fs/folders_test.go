package fs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"choiros/internal/blob/fs"
	"choiros/internal/choir"
)

// TestOpenMakesNoFoldersOfBlobs: a computer that holds little has few of them.
func TestOpenMakesNoFoldersOfBlobs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 2 { // of temporary files and of the log
		t.Fatalf("%v, %v", entries, err)
	}
}

// A copy that left empty folders out, such as a backup, is whole, also when they are
// removed from a store that is open.
func TestAFolderThatIsMissingIsMade(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"hello", strings.Repeat("large", 100_000)} {
		dir := t.TempDir()
		s := open(t, dir)
		d, _, err := s.Put(context.Background(), strings.NewReader(content))
		if err == nil {
			err = s.Flush()
		}
		if err == nil {
			_, err = s.Remove(context.Background(), d, time.Now().Add(time.Hour))
		}
		if err == nil {
			err = os.Remove(filepath.Join(dir, string(d[:2])))
		}
		if err == nil {
			_, _, err = s.Put(context.Background(), strings.NewReader(content))
		}
		if err == nil {
			err = s.Flush()
		}
		if err == nil {
			_, err = os.Stat(filepath.Join(dir, string(d[:2]), string(d)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFoldersAreMadeByManyAtOnce puts content of many folders from many goroutines, long
// and short, in batches and singly, and by links into a second store.
func TestFoldersAreMadeByManyAtOnce(t *testing.T) {
	t.Parallel()
	a, b := t.TempDir(), t.TempDir()
	from, to := open(t, a), open(t, b)
	var all [8][]choir.Digest
	var work sync.WaitGroup
	for i := range all {
		work.Go(func() { all[i] = putMany(t, from, i) })
	}
	work.Wait()
	for _, digests := range all {
		work.Go(func() {
			if left, err := to.Link(context.Background(), from, digests); err != nil || len(left) != 0 {
				t.Errorf("%d were not linked: %v", len(left), err)
			}
		})
	}
	work.Wait()
	for _, digests := range all {
		for _, d := range digests {
			if _, err := os.Stat(filepath.Join(b, string(d[:2]), string(d))); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// putMany puts 100 contents, most of which several goroutines put, and returns their
// digests.
func putMany(t *testing.T, s *fs.Store, who int) []choir.Digest {
	var digests []choir.Digest
	for n := range 100 {
		size := 1
		if n%50 == 0 {
			size = 20_000 // too long for the log
		}
		d, _, err := s.Put(context.Background(), strings.NewReader(strings.Repeat(fmt.Sprintf("%d of %d.....", n, who/4), size)))
		if err != nil {
			t.Error(err)
			return nil
		}
		digests = append(digests, d)
	}
	return digests
}

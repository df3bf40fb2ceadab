package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"choiros/internal/choir"
)

// TestASharedLogIsTheSameBytesAndGoesItsOwnWay shares a log of several segments
// at each of its events, appends to both, and holds both against what they must
// have.
func TestASharedLogIsTheSameBytesAndGoesItsOwnWay(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	source := open(t, filepath.Join(top, "source"), Config{SegmentBytes: 4 << 10})
	add(t, source, words(40)...)
	head, _ := source.Head()
	want := records(t, source, 1)
	for seq := uint64(1); seq <= head; seq++ {
		dir := filepath.Join(top, strconv.FormatUint(seq, 10))
		if err := source.Share(dir, seq); err != nil {
			t.Fatalf("at %d: %v", seq, err)
		}
		fork := open(t, dir, Config{SegmentBytes: 4 << 10})
		if got, hash := fork.Head(); got != seq || hash != want[seq-1].Hash {
			t.Fatalf("shared up to %d, it has %d", seq, got)
		}
		add(t, fork, "theirs")
		add(t, source, "ours")
		if damage, err := fork.Verify(t.Context(), nil); err != nil || len(damage) > 0 {
			t.Errorf("the fork at %d: %v, %v", seq, damage, err)
		}
	}
	if damage, err := source.Verify(t.Context(), nil); err != nil || len(damage) > 0 {
		t.Errorf("the source: %v, %v", damage, err)
	}
	for _, seq := range []uint64{0, head + 1000} {
		if err := source.Share(filepath.Join(top, "no"), seq); choir.CodeOf(err) != choir.CodeNotFound {
			t.Errorf("event %d: %v", seq, err)
		}
	}
}

// TestAJournalNeverWritesToASharedFile opens a log whose last segment somebody
// else has too, as when a fork's own segments are lost.
func TestAJournalNeverWritesToASharedFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, Config{})
	add(t, j, "more")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	path := segmentPath(dir, 1)
	other := filepath.Join(t.TempDir(), "other")
	before, err := os.ReadFile(path)
	if err = errors.Join(err, os.Link(path, other)); err != nil {
		t.Fatal(err)
	}
	j = open(t, dir, Config{})
	add(t, j, "more")
	after, err := os.ReadFile(other)
	if err != nil || string(after) != string(before) {
		t.Errorf("the other file changed, or %v", err)
	}
}

package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// TestWhatIsWholeInEitherCopyStays damages records of both copies at random: a
// reader that has both sees all that is whole in one, a repair puts back what it
// can and keeps the rest of the segment, and the damage it leaves is named to
// the event.
func TestWhatIsWholeInEitherCopyStays(t *testing.T) {
	t.Parallel()
	const n = 30
	origin, other := written(t, n, 1500)
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(origin)); err != nil {
			rt.Fatal(err)
		}
		here := rapid.SliceOfNDistinct(rapid.Uint64Range(1, n), 1, 12, rapid.ID).Draw(rt, "damaged here")
		there := rapid.SliceOfNDistinct(rapid.Uint64Range(1, n), 0, 20, rapid.ID).Draw(rt, "damaged there")
		lost := map[uint64]bool{}
		for _, seq := range here {
			flipRecord(t, dir, other[seq-1], rapid.IntRange(0, 27).Draw(rt, "byte"))
			for _, s := range there {
				lost[seq] = lost[seq] || s == seq
			}
		}
		fetch := func(seq uint64) (Record, bool) {
			for _, s := range there {
				if s == seq {
					return Record{}, false
				}
			}
			return fetchFrom(other)(seq)
		}
		sees := func(j *Journal, fetch Fetch) {
			var last uint64
			seen := map[uint64]bool{}
			err := j.ReadIntact(1, fetch, func(seq uint64, event []byte) error {
				if seq <= last || !bytes.Equal(event, other[seq-1].Event) {
					rt.Errorf("event %d after %d: %s", seq, last, event)
				}
				last, seen[seq] = seq, true
				return nil
			})
			if err != nil {
				rt.Fatal(err)
			}
			for seq := uint64(1); seq <= n; seq++ {
				if seen[seq] == lost[seq] {
					rt.Errorf("event %d: seen %v, lost %v", seq, seen[seq], lost[seq])
				}
			}
		}
		ro := open(t, dir, Config{ReadOnly: true, Acked: n})
		sees(ro, fetch)
		j, err := Open(dir, Config{Acked: n, SegmentBytes: 1500})
		if err != nil {
			rt.Fatal(err)
		}
		defer j.Close()
		damage, err := j.Verify(t.Context(), nil)
		if err != nil {
			rt.Fatal(err)
		}
		left, err := j.Repair(damage, fetch)
		if err != nil {
			rt.Fatal(err)
		}
		sees(j, func(uint64) (Record, bool) { return Record{}, false })
		named := map[uint64]bool{}
		for _, d := range left {
			for seq := d.FromSeq; seq <= d.ToSeq; seq++ {
				named[seq] = true
			}
		}
		for seq := uint64(1); seq <= n; seq++ {
			if named[seq] != lost[seq] {
				rt.Errorf("event %d: named %v, lost %v; %v", seq, named[seq], lost[seq], left)
			}
		}
	})
}

// flipRecord changes a bit of a record's header.
func flipRecord(t *testing.T, dir string, r Record, at int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(raw, r.Event); i >= 0 {
			raw[i-recordHeader+at] ^= 4
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("event %d is nowhere", r.Seq)
}

package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"choiros/internal/choir"
)

// forge replaces records by others that are sound in themselves: each names the
// event before the true one, or, when spliced, the forged one before it.
func forge(t *testing.T, dir string, other []Record, seqs []uint64, longer, spliced bool) {
	t.Helper()
	slices.Sort(seqs)
	before := map[uint64]choir.Digest{}
	for _, seq := range seqs {
		event := bytes.Clone(other[seq-1].Event)
		if prev, ok := before[seq-1]; ok && spliced {
			old, _ := PrevHash(event)
			event = bytes.Replace(event, []byte(old), []byte(prev), 1)
		}
		event, sum := forged(t, event, longer)
		before[seq] = choir.DigestFrom(sum)
		done := false
		for _, path := range segments(t, dir) {
			edit(t, path, func(raw []byte) []byte {
				at := bytes.Index(raw, other[seq-1].Event) - recordHeader
				if at < 0 {
					return raw
				}
				done = true
				f, _ := parseFrame(raw[at:])
				out := appendFrame(bytes.Clone(raw[:at]), f.synced, Record{Seq: seq, Event: event, Hash: before[seq]})
				return append(out, raw[at+f.size:]...)
			})
		}
		if !done {
			t.Fatalf("event %d is nowhere", seq)
		}
	}
}

// forged changes what an event says and makes its hash right.
func forged(t *testing.T, event []byte, longer bool) ([]byte, [sha256.Size]byte) {
	t.Helper()
	was, is := `"text":"word`, `"text":"worm`
	if longer {
		is = `"text":"many words`
	}
	out := bytes.Replace(event, []byte(was), []byte(is), 1)
	sum, ok := hashOf(out)
	if !ok || bytes.Equal(out, event) {
		t.Fatalf("nothing is forged in %s", event)
	}
	at := bytes.Index(out, hashKey) + len(hashKey)
	copy(out[at:], hex.EncodeToString(sum[:]))
	return out, sum
}

// heals opens the journal beside a sound copy and gives the damage that was
// blamed and repaired.
func heals(t interface{ Fatal(...any) }, dir string, other []Record) (blamed []Damage) {
	fetch := fetchFrom(other)
	ro, err := Open(dir, Config{ReadOnly: true, Acked: uint64(len(other))})
	if err != nil {
		t.Fatal(err)
	}
	sameAs(t, other, func(fn func(uint64, []byte) error) error { return ro.ReadIntact(1, fetch, fn) })
	j, err := Open(dir, Config{Acked: uint64(len(other))})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	damage, err := j.Verify(context.Background(), nil)
	if err == nil {
		blamed, err = j.Blame(damage, fetch)
	}
	if err != nil {
		t.Fatal(err)
	}
	left, err := j.Repair(blamed, fetch)
	if err != nil || len(left) > 0 {
		t.Fatal(fmt.Sprintf("%v blamed, left %v: %v", blamed, left, err))
	}
	sameAs(t, other, func(fn func(uint64, []byte) error) error { return j.ReadEvents(1, fn) })
	if damage, err = j.Verify(context.Background(), nil); err != nil || len(damage) > 0 {
		t.Fatal(fmt.Sprintf("after the repair of %v: %v, %v", blamed, damage, err))
	}
	return blamed
}

func sameAs(t interface{ Fatal(...any) }, other []Record, read func(func(uint64, []byte) error) error) {
	var n int
	err := read(func(seq uint64, event []byte) error {
		if n++; seq != uint64(n) || !bytes.Equal(event, other[seq-1].Event) {
			t.Fatal(fmt.Sprintf("event %d at place %d is %s", seq, n, event))
		}
		return nil
	})
	if err != nil || n != len(other) {
		t.Fatal(fmt.Sprintf("%d events of %d: %v", n, len(other), err))
	}
}

// TestAForgedRecordIsBlamedItself: not its successor, which does not fit it,
// wherever it stands in its segment. Nothing follows the last event of the log,
// so one copy cannot tell.
func TestAForgedRecordIsBlamedItself(t *testing.T) {
	t.Parallel()
	const n = 20
	origin, other := written(t, n, 1500)
	if len(segments(t, origin)) < 4 {
		t.Fatal("too few segments to have every place")
	}
	for seq := uint64(1); seq < n; seq++ {
		for _, longer := range []bool{false, true} {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(origin)); err != nil {
				t.Fatal(err)
			}
			forge(t, dir, other, []uint64{seq}, longer, false)
			blamed := heals(t, dir, other)
			if len(blamed) != 1 || blamed[0].FromSeq != seq || blamed[0].ToSeq != seq || blamed[0].Kind != KindChain {
				t.Errorf("event %d was forged, longer %v; blamed is %v", seq, longer, blamed)
			}
		}
	}
}

// TestForgedRecordsAreRestored forges any of them, alone or two as a chain.
func TestForgedRecordsAreRestored(t *testing.T) {
	t.Parallel()
	const n = 20
	origin, other := written(t, n, 1500)
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(origin)); err != nil {
			rt.Fatal(err)
		}
		spliced, most := rapid.Bool().Draw(rt, "spliced"), 5
		if spliced {
			most = 2 // a longer chain over the end of a segment makes a header look wrong
		}
		seqs := rapid.SliceOfNDistinct(rapid.Uint64Range(1, n-1), 1, most, rapid.ID).Draw(rt, "forged")
		forge(t, dir, other, seqs, rapid.Bool().Draw(rt, "longer"), spliced)
		blamed := heals(rt, dir, other)
		for _, seq := range seqs {
			if !slices.ContainsFunc(blamed, func(d Damage) bool { return d.FromSeq <= seq && seq <= d.ToSeq }) {
				rt.Errorf("event %d of %v is not blamed: %v", seq, seqs, blamed)
			}
		}
	})
}

package fs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"choiros/internal/choir"
)

// some makes records of a few lengths; one looks like a record itself.
func some(n int) []record {
	var out []record
	for i := range n {
		content := bytes.Repeat(fmt.Appendf(nil, "%d ", i), i*7)
		if i == 2 {
			content = appendRecord(nil, 1<<60, record{choir.DigestOf([]byte("inner")), []byte("inner")})
		}
		out = append(out, record{choir.DigestOf(content), content})
	}
	return out
}

func encode(first uint64, records []record) (raw []byte, ends []int) {
	for i, r := range records {
		raw = appendRecord(raw, first+uint64(i), r)
		ends = append(ends, len(raw))
	}
	return raw, ends
}

func same(got, want []record) bool {
	return slices.EqualFunc(got, want, func(a, b record) bool { return a.digest == b.digest && bytes.Equal(a.content, b.content) })
}

// Wherever a write was cut off, and whatever lies behind, what was written whole
// before is found, and nothing that was not written.
func TestALogCutAtEveryByteHasWhatWasBefore(t *testing.T) {
	t.Parallel()
	records := some(6)
	raw, ends := encode(9, records)
	for cut := range raw {
		whole, _ := slices.BinarySearch(ends, cut+1)
		for name, behind := range map[string][]byte{
			"nothing": nil, "zeros": make([]byte, 300), "garbage": bytes.Repeat([]byte{0xa5}, 300), "magic": bytes.Repeat([]byte(recordMagic), 75),
		} {
			torn := append(bytes.Clone(raw[:cut]), behind...)
			got := scanRecords(torn)
			if whole == 2 {
				// The record inside the torn one may be taken for one: it is what it says.
				got = slices.DeleteFunc(got, func(r record) bool { return string(r.content) == "inner" })
			}
			if !same(got, records[:whole]) {
				t.Fatalf("cut at %d, then %s: %d records, want %d", cut, name, len(got), whole)
			}
		}
	}
}

func TestAFlippedBitCostsOneRecord(t *testing.T) {
	t.Parallel()
	records := some(6)
	raw, ends := encode(9, records)
	for bit := range 8 * len(raw) {
		hit, _ := slices.BinarySearch(ends, bit/8+1)
		raw[bit/8] ^= 1 << (bit % 8)
		got := slices.DeleteFunc(scanRecords(raw), func(r record) bool { return string(r.content) == "inner" })
		raw[bit/8] ^= 1 << (bit % 8)
		if want := slices.Delete(slices.Clone(records), hit, hit+1); !same(got, want) {
			t.Fatalf("bit %d of record %d: %d records are left", bit, hit, len(got))
		}
	}
}

func TestRecordsOfBeforeAreNotFoundBehindNewOnes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "0")
	s, err := createSegment(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.file.Close()
	records := slices.Delete(some(6), 2, 3) // not the one that looks like a record
	for n := range len(records) {
		if err := s.write(records); err != nil {
			t.Fatal(err)
		}
		s.reset()
		fresh := some(7)[6:]
		if n > 0 { // at first nothing at all was written since
			if err := s.write(fresh); err != nil {
				t.Fatal(err)
			}
			if got := read(t, path); !same(got, fresh) {
				t.Errorf("%d records, want the new one", len(got))
			}
		}
		s.reset()
	}
}

func read(t *testing.T, path string) []record {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return scanRecords(raw)
}

func FuzzScan(f *testing.F) {
	raw, _ := encode(1, some(4))
	f.Add(raw)
	f.Add(raw[10:])
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, r := range scanRecords(raw) {
			if choir.DigestOf(r.content) != r.digest || len(r.content) > maxRecord {
				t.Errorf("a record of %d bytes is not %s", len(r.content), r.digest)
			}
		}
	})
}

package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/choir"
)

// written makes a closed journal of n events and gives its records as the other
// copy.
func written(t *testing.T, n int, segmentBytes int64) (dir string, other []Record) {
	t.Helper()
	dir = t.TempDir()
	j := open(t, dir, Config{SegmentBytes: segmentBytes})
	add(t, j, words(n)...)
	other = records(t, j, 1)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, other
}

func fetchFrom(other []Record) Fetch {
	return func(seq uint64) (Record, bool) {
		if seq == 0 || seq > uint64(len(other)) {
			return Record{}, false
		}
		return other[seq-1], true
	}
}

func segments(t *testing.T, dir string) []string {
	t.Helper()
	out, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil || len(out) == 0 {
		t.Fatal(out, err)
	}
	return out
}

func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(raw), 0o600); err != nil {
		t.Fatal(err)
	}
}

func flip(at int) func([]byte) []byte {
	return func(b []byte) []byte { b[(at+len(b))%len(b)] ^= 4; return b }
}

// Every fault is one on this copy. It must be seen at once or by Verify, nothing
// whole may be lost, and the other copy must mend it to the very same bytes.
func TestOneFaultIsNamedAndMended(t *testing.T) {
	t.Parallel()
	faults := []struct {
		name string
		do   func(t *testing.T, segs []string)
	}{
		{"bit in the last record", func(t *testing.T, s []string) { edit(t, s[len(s)-1], flip(-40)) }},
		{"bit in the last length", func(t *testing.T, s []string) {
			edit(t, s[len(s)-1], func(b []byte) []byte {
				b[bytes.LastIndex(b, []byte(recordMagic))+5] ^= 0x80
				return b
			})
		}},
		{"bit in the first record", func(t *testing.T, s []string) { edit(t, s[0], flip(segmentHeader+60)) }},
		{"bit in a length in the middle", func(t *testing.T, s []string) { edit(t, s[1], flip(segmentHeader+4)) }},
		{"bit in a segment's header", func(t *testing.T, s []string) { edit(t, s[1], flip(20)) }},
		{"bit in the first header", func(t *testing.T, s []string) { edit(t, s[0], flip(0)) }},
		{"last file cut in a record", func(t *testing.T, s []string) {
			edit(t, s[len(s)-1], func(b []byte) []byte { return b[:len(b)-10] })
		}},
		{"last file cut between records", func(t *testing.T, s []string) {
			edit(t, s[len(s)-1], func(b []byte) []byte { return b[:bytes.LastIndex(b, []byte(recordMagic))] })
		}},
		{"middle file cut", func(t *testing.T, s []string) {
			edit(t, s[1], func(b []byte) []byte { return b[:len(b)/2] })
		}},
		{"middle file empty", func(t *testing.T, s []string) { edit(t, s[1], func([]byte) []byte { return nil }) }},
		{"middle file gone", func(t *testing.T, s []string) { os.Remove(s[1]) }},
		{"first file gone", func(t *testing.T, s []string) { os.Remove(s[0]) }},
		{"last file gone", func(t *testing.T, s []string) { os.Remove(s[len(s)-1]) }},
		{"all files gone", func(t *testing.T, s []string) {
			for _, p := range s {
				os.Remove(p)
			}
		}},
		{"a page of zeros", func(t *testing.T, s []string) {
			edit(t, s[1], func(b []byte) []byte { clear(b[512:1536]); return b })
		}},
		{"something behind the last record", func(t *testing.T, s []string) {
			edit(t, s[0], func(b []byte) []byte { return append(b, "junk"...) })
		}},
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			dir, other := written(t, 60, 4<<10)
			f.do(t, segments(t, dir))
			j := open(t, dir, Config{Acked: 60})
			damage, err := j.Verify(context.Background(), nil)
			if err != nil || len(damage) == 0 {
				t.Fatalf("the fault is not seen: %v", err)
			}
			left, err := j.Repair(damage, fetchFrom(other))
			if err != nil || len(left) > 0 {
				t.Fatalf("not mended: %v %v (was %v)", err, left, damage)
			}
			for i, r := range records(t, j, 1) {
				if !bytes.Equal(r.Event, other[i].Event) {
					t.Errorf("event %d came back different", r.Seq)
				}
			}
			if seq, hash := j.Head(); seq != 60 || hash != other[59].Hash {
				t.Errorf("head is %d %s", seq, hash)
			}
			add(t, j, "goes on")
			if damage, err := j.Verify(context.Background(), nil); err != nil || len(damage) > 0 {
				t.Errorf("after the repair: %v %v", damage, err)
			}
		})
	}
}

func TestAFaultOnBothCopiesIsNamedAndRefusesAppends(t *testing.T) {
	t.Parallel()
	dir, _ := written(t, 60, 4<<10)
	edit(t, segments(t, dir)[1], flip(100))
	j := open(t, dir, Config{})
	damage, err := j.Verify(context.Background(), nil)
	if err != nil || len(damage) != 1 || damage[0].FromSeq != damage[0].ToSeq {
		t.Fatalf("%v %v", damage, err)
	}
	left, err := j.Repair(damage, fetchFrom(nil))
	if err != nil || len(left) != 1 || left[0].FromSeq != damage[0].FromSeq {
		t.Errorf("left %v, %v", left, err)
	}
	if err := j.Append(sealing("x")); choir.CodeOf(err) != choir.CodeCorrupt {
		t.Errorf("got %v, wanted corrupt", err)
	}
	err = j.Read(1, func(Record) error { return nil })
	if choir.CodeOf(err) != choir.CodeCorrupt {
		t.Errorf("reading over the hole: %v", err)
	}
	if seq, _ := j.Head(); seq != 60 {
		t.Errorf("the log became shorter: %d", seq)
	}
}

func TestAForgedRecordFromTheOtherCopyIsNotTaken(t *testing.T) {
	t.Parallel()
	dir, other := written(t, 20, 0)
	edit(t, segments(t, dir)[0], flip(segmentHeader+40))
	forged := append([]Record(nil), other...)
	forged[0] = event(1, choir.ZeroHash, "forged")
	j := open(t, dir, Config{Acked: 20})
	if left, err := j.Repair(j.Damage(), fetchFrom(forged)); err != nil || len(left) == 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// A torn write is what a power cut leaves of a group that was never acknowledged.
func TestATornWriteIsCut(t *testing.T) {
	t.Parallel()
	torn := map[string]func(tail []byte) []byte{
		"file ends in the record": func(b []byte) []byte { return b[:len(b)-7] },
		"file ends in the header": func(b []byte) []byte { return b[:9] },
		"a sector never arrived":  func(b []byte) []byte { clear(b[600:1700]); return b },
		"only zeros arrived":      func(b []byte) []byte { clear(b); return b },
		"zeros were preallocated": func(b []byte) []byte { clear(b[300:]); return append(b, make([]byte, 5000)...) },
	}
	for name, tear := range torn {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, other := written(t, 10, 0)
			long := event(11, other[9].Hash, string(bytes.Repeat([]byte("y"), 2000)))
			edit(t, segments(t, dir)[0], func(b []byte) []byte {
				return append(b, tear(appendFrame(nil, 10, long))...)
			})
			j := open(t, dir, Config{})
			if d := j.Damage(); len(d) > 0 {
				t.Fatalf("a torn write is called damage: %v", d)
			}
			if seq, hash := j.Head(); seq != 10 || hash != other[9].Hash {
				t.Errorf("head is %d", seq)
			}
			add(t, j, "goes on")
			if got := records(t, j, 1); len(got) != 11 {
				t.Errorf("%d events", len(got))
			}
		})
	}
}

// The next group says that the one before it was durable: what is missing there
// was lost, whatever it looks like.
func TestAHoleBeforeALaterGroupIsDamageEvenIfItLooksTorn(t *testing.T) {
	t.Parallel()
	dir, _ := written(t, 10, 0)
	os.Remove(filepath.Join(dir, markName))
	edit(t, segments(t, dir)[0], func(b []byte) []byte {
		last := bytes.LastIndex(b, []byte(recordMagic))
		before := bytes.LastIndex(b[:last], []byte(recordMagic))
		if binary.LittleEndian.Uint64(b[last+16:]) != 9 {
			t.Fatal("the last record does not say that 9 was durable")
		}
		clear(b[before:last])
		return b
	})
	j := open(t, dir, Config{})
	if d := j.Damage(); len(d) != 1 || d[0].FromSeq != 9 || d[0].ToSeq != 9 {
		t.Errorf("damage %v", d)
	}
}

func TestTheMarkTellsALostEndFromATornOne(t *testing.T) {
	t.Parallel()
	dir, _ := written(t, 10, 0)
	edit(t, segments(t, dir)[0], func(b []byte) []byte { return b[:len(b)-10] })
	j := open(t, dir, Config{})
	if d := j.Damage(); len(d) != 1 || d[0].FromSeq != 10 {
		t.Errorf("damage %v", d)
	}
}

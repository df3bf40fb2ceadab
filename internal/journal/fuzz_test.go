package journal

import (
	"bytes"
	"testing"

	"choiros/internal/choir"
)

// Whatever a segment's bytes are, scanning them ends, what it takes for a record
// encodes to the bytes it was read from, and the records ascend.
func FuzzScanSegment(f *testing.F) {
	one := event(1, choir.ZeroHash, "one")
	two := event(2, one.Hash, "two")
	sound := appendFrame(appendFrame(encodeSegmentHeader(1, choir.ZeroHash), 0, one), 1, two)
	f.Add(sound)
	f.Add(sound[:len(sound)-3])
	f.Add(append(bytes.Clone(sound), make([]byte, 600)...))
	f.Add([]byte(recordMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := scanSegment(data, 1, choir.ZeroHash)
		last := uint64(0)
		for _, p := range got.frames {
			if p.seq <= last {
				t.Fatalf("event %d comes after %d", p.seq, last)
			}
			last = p.seq
			again := appendFrame(nil, p.synced, Record{Seq: p.seq, Event: p.event, Hash: p.digest()})
			if !bytes.Equal(again, data[p.at:p.at+p.size]) {
				t.Fatalf("event %d encodes to other bytes", p.seq)
			}
		}
		if got.end > len(data) {
			t.Fatal("the end lies behind the end")
		}
		tornAt(data, got.end)
	})
}

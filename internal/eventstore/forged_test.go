package eventstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// forgeRecord puts another event in the place of one of the journal, as
// docs/FORMAT.md lays it out: hash and checksum are right.
func forgeRecord(t *testing.T, dir string, seq int, longer bool) {
	t.Helper()
	raw, err := os.ReadFile(journalFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(raw[:bytes.Index(raw, fmt.Appendf(nil, `,"seq":%d,`, seq))], []byte("CJR1"))
	size := 28 + int(binary.LittleEndian.Uint32(raw[at+4:])) + 32
	event := raw[at+28 : at+size-32]
	changed := bytes.Replace(event, []byte(`"time":"20`), []byte(`"time":"21`), 1)
	if longer {
		changed = bytes.Replace(event, []byte(`"payload":{`), []byte(`"payload":{"a":"forged",`), 1)
	}
	if bytes.Equal(changed, event) {
		t.Fatalf("nothing is forged in %s", event)
	}
	i := bytes.Index(changed, []byte(`,"hash":"`))
	sum := sha256.Sum256(append(slices.Clone(changed[:i]), changed[i+9+64+1:]...))
	copy(changed[i+9:], hex.EncodeToString(sum[:]))
	record := slices.Concat(raw[at:at+28], changed, sum[:])
	binary.LittleEndian.PutUint32(record[4:], uint32(len(changed)))
	table := crc32.MakeTable(crc32.Castagnoli)
	binary.LittleEndian.PutUint32(record[24:], crc32.Update(crc32.Checksum(record[:24], table), table, record[28:]))
	if err := os.WriteFile(journalFile(dir), slices.Concat(raw[:at], record, raw[at+size:]), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAForgedEventIsRestored: the record is sound in itself, only the chain and
// the other copy tell. The event that does not fit it is not to blame.
func TestAForgedEventIsRestored(t *testing.T) {
	t.Parallel()
	for _, seq := range []int{1, 2, 150, 298, 299} {
		for _, longer := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d longer %v", seq, longer), func(t *testing.T) {
				t.Parallel()
				ctx := context.Background()
				dir, want, head := closedLog(t)
				forgeRecord(t, dir, seq, longer)
				said := fmt.Sprintf("events %d to %d are damaged in the journal copy", seq, seq)
				ro := must[*Store](t)(OpenReadOnly(ctx, dir))
				if !strings.Contains(ro.ReadOnly(), said) || len(ro.Holes()) > 0 || !slices.Equal(seqs(t, ro), allBut(head)) {
					t.Errorf("reading only: %s", ro.ReadOnly())
				}
				if report, err := ro.Verify(ctx, nil); err != nil || len(report.Damaged) != 1 || report.Damaged[0].From != uint64(seq) || report.Damaged[0].Copy != "journal" || len(report.Holes) > 0 {
					t.Errorf("reading only: %+v %v", report, err)
				}
				if err := ro.Close(); err != nil {
					t.Error(err)
				}
				s := open(t, dir)
				if r := s.Repairs(); len(r) != 1 || r[0].Copy != "journal" || r[0].From != uint64(seq) || r[0].To != uint64(seq) {
					t.Fatalf("repaired %+v, %s", r, s.ReadOnly())
				}
				if report, err := s.Verify(ctx, nil); err != nil || len(report.Repaired)+len(report.Holes) > 0 {
					t.Errorf("after the repair: %+v %v", report, err)
				}
				if err := s.Rebuild(ctx); err != nil || dump(t, s) != want {
					t.Errorf("the store is not what it was: %v", err)
				}
			})
		}
	}
}

// TestAForgedLastEventIsNotSilent: nothing follows it, so the copies differ and
// neither is proved; they are made one and it is told.
func TestAForgedLastEventIsNotSilent(t *testing.T) {
	t.Parallel()
	dir, _, head := closedLog(t)
	forgeRecord(t, dir, int(head), false)
	s := open(t, dir)
	if len(s.Repairs()) != 1 || len(s.Holes()) > 0 || !strings.Contains(s.Repairs()[0].Damage, "is not the journal's") {
		t.Errorf("repaired %+v, holes %v", s.Repairs(), s.Holes())
	}
	if report, err := s.Verify(context.Background(), nil); err != nil || len(report.Repaired)+len(report.Holes) > 0 {
		t.Errorf("afterwards: %+v %v", report, err)
	}
}

// TestAForgedEventOfBothCopiesIsAHole: the other copy's event does not fit either.
func TestAForgedEventOfBothCopiesIsAHole(t *testing.T) {
	t.Parallel()
	dir, _, head := closedLog(t)
	forgeRecord(t, dir, 150, false)
	sqlIn(t, dir, "UPDATE events SET event = '{}' WHERE seq = 150")
	s := open(t, dir)
	if len(s.Holes()) != 1 || s.Holes()[0].From != 150 || s.Holes()[0].To != 150 || !slices.Equal(seqs(t, s), allBut(head, 150)) {
		t.Errorf("holes %+v, %s", s.Holes(), s.ReadOnly())
	}
	_, err := s.Append(context.Background(), choir.RoleCLI, draft(t, choir.PromptSubmitted{Text: "x"}, newID(), ""))
	wantCode(t, err, choir.CodeCorrupt)
}

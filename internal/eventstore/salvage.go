package eventstore

import (
	"fmt"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/journal"
)

// asideFile is the name of a damaged SQLite copy that was moved aside. Its rows may
// still restore the journal, so it is kept until the journal is undamaged.
const asideFile = "store.damaged.sqlite"

var sqliteSuffixes = []string{"", "-wal", "-shm"}

// setAside moves a damaged SQLite copy aside. If a copy was moved aside before, that
// one is kept and the new one removed.
func (s *Store) setAside() error {
	from, to := filepath.Join(s.dir, sqliteFile), filepath.Join(s.dir, asideFile)
	if _, err := os.Stat(to); err == nil {
		return removeSQLite(from)
	}
	for _, suffix := range sqliteSuffixes {
		fault.Point("store.remove")
		if err := os.Rename(from+suffix, to+suffix); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// dropAside removes the SQLite copy that was moved aside, unless the log has holes.
func (s *Store) dropAside() error {
	if len(s.opened.holes) > 0 {
		return nil
	}
	if err := removeSQLite(filepath.Join(s.dir, asideFile)); err != nil {
		return choir.Wrap("eventstore.open", choir.CodeUnavailable, err, "remove the damaged copy")
	}
	return nil
}

// fetchAll returns a journal.Fetch that tries copied, and then the SQLite copy that was
// moved aside. The caller calls close at the end.
func (s *Store) fetchAll(copied journal.Fetch) (fetch journal.Fetch, close func()) {
	path := filepath.Join(s.dir, asideFile)
	var aside *sqlite.Conn
	if _, err := os.Stat(path); err == nil {
		aside, _ = sqlite.OpenConn(path, sqlite.OpenReadOnly) // without it there is one source less
	}
	fetch = func(seq uint64) (journal.Record, bool) {
		if r, ok := copied(seq); ok {
			return r, true
		}
		return fetchFrom(aside)(seq)
	}
	return fetch, func() {
		if aside != nil {
			aside.Close() // read only: nothing can be lost
		}
	}
}

// source reads the events that a rebuild uses.
type source struct {
	read func(fn func(seq uint64, event []byte) error) error
	gaps bool // events may be missing that are damaged in both copies
}

func wholeJournal(j *journal.Journal) source {
	return source{read: func(fn func(uint64, []byte) error) error { return j.ReadEvents(1, fn) }}
}

func (s *Store) intact(from uint64, fetch journal.Fetch) source {
	return source{gaps: true, read: func(fn func(uint64, []byte) error) error { return s.journal.ReadIntact(from, fetch, fn) }}
}

// damageFound returns the log.repaired payload for the events from..to of a damaged
// range of the journal.
func damageFound(d journal.Damage, from, to uint64) choir.LogRepaired {
	return choir.LogRepaired{
		Copy: "journal", From: max(1, from), To: max(1, from, to), Damage: clip(d.String()),
		Kind: d.Kind, File: filepath.Base(d.File), Offset: d.Offset, End: d.End,
	}
}

// clip truncates a text to the longest damage description that an event may have.
func clip(text string) string {
	const most = 400
	return text[:min(len(text), most)]
}

// divide splits damage of the journal into ranges that the other copy can restore, and
// holes.
func divide(damage []journal.Damage, fetch journal.Fetch) (mendable []choir.LogRepaired, holes []Hole) {
	for _, d := range damage {
		if d.FromSeq > d.ToSeq {
			mendable = append(mendable, damageFound(d, d.FromSeq, d.ToSeq))
			continue
		}
		runs(d.FromSeq, d.ToSeq, func(seq uint64) bool { _, ok := fetch(seq); return ok }, func(from, to uint64, has bool) {
			if has {
				mendable = append(mendable, damageFound(d, from, to))
			} else {
				holes = append(holes, holeOf(d, from, to))
			}
		})
	}
	return mendable, holes
}

// runs splits the numbers from..to into maximal ranges for which is returns the same
// value, and calls fn for each.
func runs(from, to uint64, is func(uint64) bool, fn func(from, to uint64, is bool)) {
	for start := from; start <= to; {
		same, end := is(start), start
		for end < to && is(end+1) == same {
			end++
		}
		fn(start, end, same)
		start = end + 1
	}
}

// mostTold is the largest number of ranges that one message lists.
const mostTold = 8

// holesText describes the holes in a sentence.
func holesText(holes []Hole) string {
	text := ""
	for i, h := range holes {
		if i == mostTold {
			return text + fmt.Sprintf(" and %d more", len(holes)-i)
		}
		if i > 0 {
			text += "; "
		}
		text += fmt.Sprintf("events %d to %d are damaged in both copies (%s)", h.From, h.To, h.Damage)
	}
	return text
}

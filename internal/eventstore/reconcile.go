package eventstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/journal"
)

// openSQLite opens the SQLite copy and returns the number of its last event. A copy
// that cannot be read is moved aside; reconcile then creates a new one.
func (s *Store) openSQLite() (*sqlite.Conn, uint64, error) {
	path := filepath.Join(s.dir, sqliteFile)
	if err := os.MkdirAll(s.dir, 0o711); err != nil {
		return nil, 0, choir.Wrap("eventstore.open", choir.CodeUnavailable, err, "make the folder of the log")
	}
	if err := dropRemake(s.dir); err != nil {
		return nil, 0, err
	}
	if _, err := os.Stat(path); os.IsNotExist(err) {
		s.opened.sqliteDamage = "the SQLite copy was missing"
	}
	conn, err := openWriter(path)
	var last choir.Event
	if err == nil {
		if last, err = lastEvent(conn); err == nil {
			s.opened.foreign, err = madeByOthers(conn)
		}
		if err == nil {
			s.applier.applied = last.Seq
			return conn, last.Seq, nil
		}
		conn.Close() // it is thrown away
	}
	newer := errors.Is(err, errNewerCopy)
	if !newer && choir.CodeOf(sqliteError("", err)) != choir.CodeCorrupt {
		return nil, 0, sqliteError("eventstore.open", err)
	}
	if err := s.setAside(); err != nil {
		return nil, 0, choir.Wrap("eventstore.open", choir.CodeUnavailable, err, "set %s aside", path)
	}
	if !newer {
		s.opened.sqliteDamage = "the SQLite copy could not be read"
	}
	conn, err = openWriter(path)
	return conn, 0, sqliteError("eventstore.open", err)
}

func removeSQLite(path string) error {
	for _, suffix := range sqliteSuffixes {
		fault.Point("store.remove")
		if err := os.Remove(path + suffix); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// lastEvent returns the newest event of the SQLite copy, or the zero event if it has
// none. Code corrupt: the event is damaged.
func lastEvent(conn *sqlite.Conn) (choir.Event, error) {
	var out []choir.Event
	err := query(conn, "SELECT event FROM events ORDER BY seq DESC LIMIT 1", decoded(&out))
	if err != nil || len(out) == 0 {
		return choir.Event{}, err
	}
	count, err := queryInt(conn, "SELECT max(seq) FROM events")
	if err == nil && uint64(count) != out[0].Seq {
		err = choir.E("eventstore.open", choir.CodeCorrupt, "row %d of the SQLite copy holds event %d", count, out[0].Seq)
	}
	return out[0], err
}

// reconcile repairs the journal and brings the SQLite copy up to date, before anything
// is appended.
func (s *Store) reconcile(ctx context.Context) error {
	if err := s.repairJournal(s.journal.Damage()); err != nil {
		return err
	}
	err := s.catchUp(ctx)
	if choir.CodeOf(err) == choir.CodeCorrupt {
		// An open reads only the last segment whole; this is damage in another.
		damage, verr := s.journal.Verify(ctx, nil)
		if verr != nil {
			return verr
		}
		if verr = s.repairJournal(damage); verr != nil {
			return verr
		}
		err = s.catchUp(ctx)
	}
	if choir.CodeOf(err) == choir.CodeCorrupt {
		// The journal is sound, so this is damage in a page of the copy that was not
		// looked at before.
		if err = s.replaceCopy(); err == nil {
			err = s.catchUp(ctx)
		}
	}
	if err != nil {
		return err
	}
	return s.dropAside()
}

// replaceCopy moves the open, damaged SQLite copy aside and creates a new one.
func (s *Store) replaceCopy() error {
	s.applier.conn.Close() // it is thrown away
	s.applier.conn = nil
	if err := s.setAside(); err != nil {
		return choir.Wrap("eventstore.open", choir.CodeUnavailable, err, "set the damaged %s aside", sqliteFile)
	}
	conn, err := openWriter(filepath.Join(s.dir, sqliteFile))
	if err != nil {
		return sqliteError("eventstore.open", err)
	}
	s.applier.conn, s.applier.view = conn, newView(sqliteBase{conn}, s.applier.watch)
	s.applier.applied = 0
	s.opened.sqliteDamage, s.opened.foreign = "a page of the SQLite copy is damaged", false
	return nil
}

// repairJournal restores damaged records of the journal from the SQLite copy at open,
// and records repairs and holes.
func (s *Store) repairJournal(damage []journal.Damage) error {
	if len(damage) == 0 {
		return nil
	}
	repaired, holes, err := s.mendJournal(damage)
	if err != nil {
		return err
	}
	s.opened.repairs = append(s.opened.repairs, repaired...)
	s.opened.holes = holes
	s.opened.readOnly = holesText(holes)
	return nil
}

func (s *Store) mendJournal(damage []journal.Damage) (repaired []choir.LogRepaired, holes []Hole, err error) {
	damage, left, err := s.restoreJournal(damage)
	if err != nil {
		return nil, nil, err
	}
	still := func(seq uint64) bool {
		return slices.ContainsFunc(left, func(d journal.Damage) bool { return d.FromSeq <= seq && seq <= d.ToSeq })
	}
	for _, d := range damage {
		if d.FromSeq > d.ToSeq && !slices.Contains(left, d) {
			repaired = append(repaired, damageFound(d, d.FromSeq, d.ToSeq))
			continue
		}
		runs(d.FromSeq, d.ToSeq, still, func(from, to uint64, is bool) {
			if !is {
				repaired = append(repaired, damageFound(d, from, to))
			}
		})
	}
	for _, d := range left {
		holes = append(holes, holeOf(d, d.FromSeq, max(d.FromSeq, d.ToSeq)))
	}
	return repaired, holes, nil
}

// restoreJournal repairs the journal. It returns the refined damage, see journal.Blame,
// and the part of it that the SQLite copy could not restore. It holds no lock of the
// copy, because the journal fetches records while holding its own.
func (s *Store) restoreJournal(damage []journal.Damage) (blamed, left []journal.Damage, err error) {
	fetch, done := s.fetchAll(s.applier.fetch)
	defer done()
	if blamed, err = s.journal.Blame(damage, fetch); err == nil {
		left, err = s.journal.Repair(blamed, fetch)
	}
	return blamed, left, err
}

// fetchFrom returns a journal.Fetch that reads from the SQLite copy. With a nil
// connection it finds nothing.
func fetchFrom(conn *sqlite.Conn) journal.Fetch {
	return func(seq uint64) (r journal.Record, ok bool) {
		if conn == nil {
			return r, false
		}
		var out []choir.Event
		var raw string
		err := query(conn, "SELECT event FROM events WHERE seq = ?", func(st *sqlite.Stmt) error {
			raw = st.ColumnText(0)
			return decoded(&out)(st)
		}, seq)
		if err != nil || len(out) == 0 || out[0].Seq != seq {
			return r, false // whatever is wrong with it, it is no help
		}
		return journal.Record{Seq: seq, Event: []byte(raw), Hash: out[0].Hash}, true
	}
}

// fewEvents is the number of events up to which catchUp applies missing events instead
// of rebuilding all projections in memory. It also applies more if they are few
// compared with the whole log.
const fewEvents = 2000

// catchUp brings the SQLite copy up to the journal's head.
func (s *Store) catchUp(ctx context.Context) error {
	head, _ := s.journal.Head()
	have := s.applier.applied
	if have > 0 && len(s.opened.holes) == 0 {
		same, err := s.sameEvent(have)
		if err != nil {
			return err
		}
		if !same {
			have, s.opened.sqliteDamage = 0, fmt.Sprintf("event %d of the SQLite copy is not the journal's", have)
		}
	}
	var err error
	fetch, done := s.fetchAll(fetchFrom(nil))
	defer done()
	from := wholeJournal(s.journal)
	if len(s.opened.holes) > 0 {
		from = s.intact(1, fetch)
	}
	if have == 0 && head > 0 || s.opened.foreign || head > have+fewEvents && head > have+have/4 {
		err = s.applier.rebuild(ctx, from, have, head)
	} else if head > have {
		err = s.applyAfter(ctx, have)
	}
	if err == nil {
		err = sqliteError("eventstore.open", updateStamp(s.applier.conn))
	}
	if err == nil {
		err = sqliteError("eventstore.open", s.recent.loadNewest(s.applier.conn, head))
	}
	if err == nil && s.opened.sqliteDamage != "" && head > 0 {
		s.opened.repairs = append(s.opened.repairs, choir.LogRepaired{Copy: "sqlite", From: 1, To: head, Damage: s.opened.sqliteDamage, Kind: "file"})
	}
	return err
}

// sameEvent reports whether both copies have the same event at seq.
func (s *Store) sameEvent(seq uint64) (bool, error) {
	other, ok := fetchFrom(s.applier.conn)(seq)
	if head, _ := s.journal.Head(); !ok || head < seq {
		return false, nil
	}
	same := false
	err := s.journal.Read(seq, func(r journal.Record) error {
		same = r.Hash == other.Hash
		return errStop
	})
	return same, unlessStopped(err)
}

// applyAfter applies the events after number seq to the SQLite copy.
func (s *Store) applyAfter(ctx context.Context, seq uint64) error {
	var group []item
	flush := func() error {
		if len(group) == 0 {
			return nil
		}
		if err := s.applier.transact(group); err != nil {
			return sqliteError("eventstore.open", err)
		}
		s.applier.applied = group[len(group)-1].event.Seq
		group = nil
		return nil
	}
	take := func(_ uint64, raw []byte) error {
		e, err := choir.DecodeEvent(raw)
		if err != nil {
			return err
		}
		if group = append(group, item{event: e, raw: slices.Clone(raw)}); len(group) < groupEvents {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return choir.Wrap("eventstore.open", choir.CodeCancelled, err, "stopped")
		}
		return flush()
	}
	var err error
	if len(s.opened.holes) > 0 {
		none := func(uint64) (journal.Record, bool) { return journal.Record{}, false }
		err = s.journal.ReadIntact(seq+1, none, take)
	} else {
		err = s.journal.ReadEvents(seq+1, take)
	}
	if err != nil {
		return err
	}
	return flush()
}

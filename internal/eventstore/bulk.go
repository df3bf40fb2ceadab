package eventstore

import (
	"errors"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/durablefile"
	"choiros/internal/fault"
	"choiros/internal/journal"
)

// bulkEvents is the number of events that Bulk writes at once.
const bulkEvents = 4096

// Bulk creates a log in dir quickly, for benchmarks of large logs, and returns the
// number of events. It syncs only at the end of each segment and at its own end, so its
// events are durable when it returns. next returns drafts until ok is false. Drafts are
// not checked, and must be of types without projections.
func Bulk(dir string, cfg Config, next func() (d choir.Draft, source choir.Source, ok bool)) (events uint64, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, choir.Wrap("eventstore.bulk", choir.CodeUnavailable, err, "make the folder of the log")
	}
	path := filepath.Join(dir, sqliteFile)
	conn, err := openWriter(path)
	if err != nil {
		return 0, sqliteError("eventstore.bulk", err)
	}
	for _, pragma := range []string{"journal_mode = OFF", "synchronous = OFF", "cache_size = " + itoa(rebuildCache)} {
		err = errors.Join(err, execute(conn, "PRAGMA "+pragma))
	}
	j, jerr := journal.Open(filepath.Join(dir, journalDir), journal.Config{NoSync: true})
	if err = errors.Join(err, jerr); err != nil {
		return 0, errors.Join(err, conn.Close())
	}
	b := bulk{cfg: cfg, journal: j, next: next}
	err = b.run(conn)
	events, _ = j.Head()
	err = errors.Join(err, j.Close(), execute(conn, "PRAGMA journal_mode = WAL"), conn.Close())
	if err == nil {
		err = syncFile(path)
	}
	return events, sqliteError("eventstore.bulk", err)
}

func syncFile(path string) error {
	fault.Point("store.bulk.sync")
	return durablefile.Sync(path)
}

type bulk struct {
	cfg     Config
	journal *journal.Journal
	next    func() (choir.Draft, choir.Source, bool)
}

// run writes the journal while a goroutine writes the SQLite copy.
func (b *bulk) run(conn *sqlite.Conn) error {
	groups := make(chan []item, 2)
	inserted := make(chan error, 1)
	go func() {
		var err error
		for group := range groups {
			if err == nil {
				err = insertOnly(conn, group)
			}
		}
		inserted <- err
	}()
	var err error
	for more := true; more && err == nil; {
		var group []item
		err = b.journal.Append(func(seq uint64, prev choir.Digest) (records []journal.Record, err error) {
			group, more, err = b.seal(seq, prev)
			for i := range group {
				e := &group[i].event
				records = append(records, journal.Record{Seq: e.Seq, Event: group[i].raw, Hash: e.Hash})
			}
			return records, err
		})
		if len(group) > 0 {
			groups <- group
		}
	}
	close(groups)
	return errors.Join(err, <-inserted)
}

func (b *bulk) seal(seq uint64, prev choir.Digest) (group []item, more bool, err error) {
	for len(group) < bulkEvents {
		d, source, ok := b.next()
		if !ok {
			return group, false, nil
		}
		e := choir.Event{
			Seq: seq, ID: d.ID, Time: b.cfg.Now(), Computer: b.cfg.Computer, User: b.cfg.User, Source: source,
			Type: d.Type, Run: d.Run, Task: d.Task, Cause: d.Cause, Payload: d.Payload, Blob: d.Blob,
		}
		raw, err := choir.SealEvent(&e, prev)
		if err != nil {
			return nil, false, err
		}
		group = append(group, item{event: e, raw: raw})
		seq, prev = seq+1, e.Hash
	}
	return group, true, nil
}

package eventstore

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"choiros/internal/choir"
	"choiros/internal/journal"
)

// Restore creates a log in dir, which must have none, from a copy of all its events,
// and returns the newest event. read calls its argument for each event in order. The
// events must be undamaged, form a chain from event 1, and belong to one computer with
// the past it was forked or imported with. The log is durable when Restore returns; its
// first open makes the SQLite copy.
func Restore(dir string, read func(take func(seq uint64, raw []byte) error) error) (last choir.Event, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return last, choir.Wrap("eventstore.restore", choir.CodeUnavailable, err, "make the folder of the log")
	}
	j, err := journal.Open(filepath.Join(dir, journalDir), journal.Config{NoSync: true})
	if err != nil {
		return last, err
	}
	r := restoring{journal: j}
	if seq, _ := j.Head(); seq != 0 {
		err = choir.Refuse("eventstore.restore", choir.ReasonRestoreLogThere, choir.TextOf("path", dir))
	}
	if err == nil {
		err = read(r.appendEvent)
	}
	if err == nil {
		err = r.flush()
	}
	if err = errors.Join(err, j.Close()); err == nil && r.last.Seq == 0 {
		err = choir.Refuse("eventstore.restore", choir.ReasonRestoreNoEvents)
	}
	return r.last, err
}

type restoring struct {
	journal *journal.Journal
	lineage choir.Lineage
	last    choir.Event
	pending []journal.Record
}

// appendEvent checks an event against the one before and adds it to the log.
func (r *restoring) appendEvent(seq uint64, raw []byte) error {
	e, err := choir.DecodeEvent(raw)
	if err != nil {
		return choir.Wrap("eventstore.restore", "", err, "event %d of the copy", seq)
	}
	canonical, err := choir.EncodeEvent(&e)
	if err != nil {
		return choir.Wrap("eventstore.restore", "", err, "event %d of the copy", seq)
	}
	prev := choir.ZeroHash
	if r.last.Seq > 0 {
		prev = r.last.Hash
	}
	switch {
	case !bytes.Equal(canonical, raw):
		return choir.Refuse("eventstore.restore", choir.ReasonRestoreNotCanonical, choir.TextOf("event", seq))
	case e.Seq != seq || seq != r.last.Seq+1 || e.PrevHash != prev:
		return choir.Refuse("eventstore.restore", choir.ReasonRestoreGap, choir.TextOf("event", e.Seq), choir.TextOf("before", r.last.Seq))
	}
	if err := r.lineage.Next(&e); err != nil {
		return err
	}
	r.last = e
	r.pending = append(r.pending, journal.Record{Seq: seq, Event: canonical, Hash: e.Hash})
	if len(r.pending) < bulkEvents {
		return nil
	}
	return r.flush()
}

func (r *restoring) flush() error {
	records := r.pending
	r.pending = nil
	return r.journal.Append(func(uint64, choir.Digest) ([]journal.Record, error) { return records, nil })
}

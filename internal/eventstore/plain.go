package eventstore

import (
	"context"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"choiros/internal/choir"
)

// Plain is a log in SQLite alone, with the same driver and schema and synchronous =
// FULL. Benchmarks use it as the peer of Store, and only they may (tools/imports). It
// is in this package because a fair ratio needs the same checks, sealing and reducers
// as Store. It must not be used by two goroutines at once.
type Plain struct {
	checks      Store // only its configuration is used
	a           applier
	projections bool
	seq         uint64
	prev        choir.Digest
}

// OpenPlain creates a Plain log in a new file, with or without projections.
func OpenPlain(path string, cfg Config, projections bool) (*Plain, error) {
	conn, err := openWriter(path)
	if err != nil {
		return nil, sqliteError("eventstore.plain", err)
	}
	if err := execute(conn, "PRAGMA synchronous = FULL"); err != nil {
		conn.Close() // nothing was written
		return nil, sqliteError("eventstore.plain", err)
	}
	p := &Plain{checks: Store{cfg: cfg}, projections: projections, prev: choir.ZeroHash}
	p.a.start(conn)
	return p, nil
}

// PlainDraft is a draft and the role that appends it.
type PlainDraft struct {
	Role  choir.Role
	Draft choir.Draft
}

// Append adds the drafts in one durable transaction. It treats drafts as Store.Append
// does, except that it looks for no duplicates.
func (p *Plain) Append(ctx context.Context, drafts ...PlainDraft) error {
	items := make([]item, 0, len(drafts))
	seq, prev := p.seq, p.prev
	for i := range drafts {
		d := drafts[i].Draft
		payload, err := p.checks.checkDraft(ctx, drafts[i].Role, &d)
		if err != nil {
			return underDraft(i, len(drafts), err)
		}
		seq++
		e := choir.Event{
			Seq: seq, ID: d.ID, Time: p.checks.cfg.Now(), Computer: p.checks.cfg.Computer, User: p.checks.cfg.User,
			Source: drafts[i].Role.Source(), Type: d.Type, Run: d.Run, Task: d.Task, Cause: d.Cause, Payload: d.Payload, Blob: d.Blob,
		}
		raw, err := choir.SealEvent(&e, prev)
		if err != nil {
			return underDraft(i, len(drafts), err)
		}
		prev = e.Hash
		items = append(items, item{event: e, payload: payload, raw: raw})
	}
	write := p.a.transact
	if !p.projections {
		write = func(items []item) error { return insertOnly(p.a.conn, items) }
	}
	if err := write(items); err != nil {
		return sqliteError("eventstore.plain", err)
	}
	p.seq, p.prev = seq, prev
	return nil
}

func insertOnly(conn *sqlite.Conn, items []item) (err error) {
	end, err := sqlitex.ImmediateTransaction(conn)
	if err != nil {
		return err
	}
	defer end(&err)
	return insertEvents(conn, items)
}

// Close closes the file.
func (p *Plain) Close() error { return sqliteError("eventstore.plain", p.a.conn.Close()) }

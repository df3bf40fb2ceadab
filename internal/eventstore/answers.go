package eventstore

import (
	"bufio"
	"context"
	"crypto/sha256"
	"io"
	"strings"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/recovery"
)

// wrongProjections returns the projections in the SQLite copy that differ from the log,
// and the number of the last event compared. It rebuilds them in a temporary database,
// so appends and reads continue meanwhile, and repairs do not. The log must be
// undamaged.
func (s *Store) wrongProjections(ctx context.Context) (tables []string, last uint64, err error) {
	err = s.barrier.Beside(ctx, recovery.Verify, func(ctx context.Context) (err error) {
		tables, last, err = s.compareAnswers(ctx)
		return err
	})
	return tables, last, err
}

func (s *Store) compareAnswers(ctx context.Context) (tables []string, last uint64, err error) {
	fresh, err := sqlite.OpenConn("", sqlite.OpenReadWrite, sqlite.OpenCreate) // SQLite removes it
	if err != nil {
		return nil, 0, sqliteError("eventstore.verify", err)
	}
	defer fresh.Close()
	if err := migrate(fresh); err != nil {
		return nil, 0, sqliteError("eventstore.verify", err)
	}
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		return readTx(conn, func() error {
			// What is appended from here on is not seen.
			e, err := lastEvent(conn)
			if err != nil || e.Seq == 0 {
				return err
			}
			last = e.Seq
			if err := readTx(fresh, func() error { return replay(ctx, fresh, wholeJournal(s.journal), last, last, s.applier.watch) }); err != nil {
				return err
			}
			tables, err = differing(conn, fresh)
			return err
		})
	})
	return tables, last, sqliteError("eventstore.verify", err)
}

// differing returns the names of the projections whose rows differ between two
// databases.
func differing(a, b *sqlite.Conn) (names []string, err error) {
	for _, t := range dumped {
		if t.name == "events" {
			continue
		}
		var sums [2][sha256.Size]byte
		for i, conn := range []*sqlite.Conn{a, b} {
			h := sha256.New()
			out := bufio.NewWriter(h)
			if err := dumpTable(conn, t, out); err != nil {
				return nil, err
			}
			if err := out.Flush(); err != nil {
				return nil, err
			}
			h.Sum(sums[i][:0])
		}
		if sums[0] != sums[1] {
			names = append(names, t.name)
		}
	}
	return names, nil
}

// readTx runs fn in one read transaction, so that all its reads see the same state.
func readTx(conn *sqlite.Conn, fn func() error) (err error) {
	if err := execute(conn, "BEGIN"); err != nil {
		return err
	}
	defer func() {
		if cerr := execute(conn, "COMMIT"); err == nil {
			err = cerr
		}
	}()
	return fn()
}

// dumpTable writes the rows of a table in canonical form.
func dumpTable(conn *sqlite.Conn, t dumpedTable, out io.Writer) error {
	return query(conn, "SELECT "+t.columns+" FROM "+t.name+" ORDER BY "+t.order, func(st *sqlite.Stmt) error {
		_, err := out.Write(dumpRow(st))
		return err
	})
}

// answersDiffer returns the repair report for projections that differed from the log,
// which ends at event last.
func answersDiffer(tables []string, last uint64) choir.LogRepaired {
	return choir.LogRepaired{Copy: "sqlite", From: 1, To: last, Kind: "rows", Damage: clip("the answers in " + strings.Join(tables, ", ") + " are not what the log says")}
}

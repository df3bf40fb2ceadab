package eventstore

import (
	"bufio"
	"context"
	"crypto/sha256"
	"io"
	"slices"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// dumpedTable is a table of a dump: its name, its columns, and the columns by which its
// rows are ordered, the primary key.
type dumpedTable struct{ name, columns, order string }

// dumped lists the tables of a dump by name.
var dumped = dumpedTables(projections)

func dumpedTables(tables []table) []dumpedTable {
	out := []dumpedTable{{"events", "seq, id, type, run, event", "seq"}}
	for _, t := range tables {
		p := t.projected()
		out = append(out, dumpedTable{p.name, columnNames(p.columns), columnNames(p.columns[:p.key])})
	}
	slices.SortFunc(out, func(a, b dumpedTable) int { return strings.Compare(a.name, b.name) })
	return out
}

// Dump writes the whole SQLite copy in canonical form, tables by name and rows by key,
// and returns the SHA-256 of its output. Two stores with the same log give the same.
// docs/FORMAT.md has the form.
func (s *Store) Dump(ctx context.Context, w io.Writer) (choir.Digest, error) {
	h := sha256.New()
	out := bufio.NewWriter(io.MultiWriter(w, h))
	err := s.read(ctx, func(conn *sqlite.Conn) (err error) {
		return readTx(conn, func() error {
			for _, t := range dumped {
				if _, err := out.WriteString(t.name + "\n"); err != nil {
					return err
				}
				if err := dumpTable(conn, t, out); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return "", err
	}
	return choir.DigestFrom([32]byte(h.Sum(nil))), nil
}

// dumpRow returns a row as a line with a JSON list.
func dumpRow(st *sqlite.Stmt) []byte {
	line := []byte{'['}
	for i := range st.ColumnCount() {
		if i > 0 {
			line = append(line, ',')
		}
		switch st.ColumnType(i) {
		case sqlite.TypeInteger:
			line = strconv.AppendInt(line, st.ColumnInt64(i), 10)
		case sqlite.TypeNull:
			line = append(line, "null"...)
		default:
			line = choir.AppendCanonicalString(line, st.ColumnText(i))
		}
	}
	return append(line, ']', '\n')
}

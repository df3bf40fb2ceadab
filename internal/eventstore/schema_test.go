package eventstore

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// schemaOf are the tables and indexes of a database, as SQL.
func schemaOf(t *testing.T, conn *sqlite.Conn) (out []string) {
	t.Helper()
	err := query(conn, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL", func(st *sqlite.Stmt) error {
		out = append(out, st.ColumnText(0))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// copyOfVersion makes an empty SQLite copy as a choir with that schema did.
func copyOfVersion(t *testing.T, version int) *sqlite.Conn {
	t.Helper()
	conn := must[*sqlite.Conn](t)(sqlite.OpenConn(filepath.Join(t.TempDir(), sqliteFile), sqlite.OpenReadWrite, sqlite.OpenCreate))
	t.Cleanup(func() { conn.Close() })
	script := must[[]byte](t)(os.ReadFile("testdata/schema_1.sql"))
	for next := 2; next <= version; next++ {
		script = append(script, must[[]byte](t)(scripts.ReadFile("migration_"+itoa(next)+".sql"))...)
	}
	if err := sqlitex.ExecuteScript(conn, string(script), nil); err != nil {
		t.Fatal(err)
	}
	if err := execute(conn, "PRAGMA user_version = "+itoa(version)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// releasedSince are the versions of the schema that first had each table as it is. Copies of these versions are on
// disks, so that a new table, or another form of one, is of a later version than all of these.
var releasedSince = map[string]int{
	"runs": 1, "conversations": 1, "messages": 1, "tasks": 1, "usage": 1, "checkpoints": 1, "snapshots": 1, "documents": 1,
	"document_heads": 1, "document_versions": 1, "files": 1, "settings": 2, "windows": 2, "overlays": 5, "firsts": 7, "undos": 8,
	"marks": 9, "mark_trail": 9, "egress": 11, "egress_hosts": 12,
}

func TestANewTableIsOfANewVersionOfTheSchema(t *testing.T) {
	t.Parallel()
	newest := max(cursorsVersion, repoIndexVersion)
	for _, since := range releasedSince {
		newest = max(newest, since)
	}
	for _, p := range projections {
		name, since := p.projected().name, p.projected().since
		if released, ok := releasedSince[name]; (!ok || released != since) && since != newest+1 {
			t.Errorf("the table %s is since %d: copies of version %d lack it, so it is since %d; add it to releasedSince with the next table after it", name, since, newest, newest+1)
		}
	}
}

func TestACopyOfEachOlderSchemaGetsTheSchemaOfANewCopy(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	want := schemaOf(t, s.applier.conn)
	for version := 1; version <= scripted; version++ {
		conn := copyOfVersion(t, version)
		if err := migrate(conn); err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		if diff := cmp.Diff(want, schemaOf(t, conn)); diff != "" {
			t.Errorf("version %d: %s", version, diff)
		}
		if got, err := queryInt(conn, "PRAGMA user_version"); err != nil || int(got) != schemaVersion {
			t.Errorf("version %d became %d, %v", version, got, err)
		}
		if others, err := madeByOthers(conn); err != nil || !others {
			t.Errorf("version %d counts as whole: its projections are empty, %v", version, err)
		}
	}
}

func TestEveryProjectionIsWellFormed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, table := range projections {
		p := table.projected()
		if p.name == "" || seen[p.name] || p.since < 1 || p.since > schemaVersion || p.key < 1 || p.key > len(p.columns) {
			t.Errorf("%+v", p)
		}
		seen[p.name] = true
	}
}

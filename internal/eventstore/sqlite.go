package eventstore

import (
	"context"
	"embed"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/lockorder"
)

//go:embed schema.sql
var eventsSchema string

//go:embed migration_*.sql
var scripts embed.FS

// scripted is the number of schema versions with a migration script. They migrate
// copies of older choirs; no script is added.
const scripted = 8

// schemaVersion is the newest schema version: that of the newest projection, of the
// cursors table or of the index of the events about projects.
var schemaVersion = max(newest(projections), cursorsVersion, repoIndexVersion)

func newest(tables []table) (version int) {
	for _, t := range tables {
		version = max(version, t.projected().since)
	}
	return version
}

const readers = 4

// writerCache is the value of SQLite's cache_size pragma for the writing connection:
// negative KiB.
const writerCache = -4000

// pool lends read connections. Each is used by one goroutine at a time.
type pool struct {
	path  string
	flags []sqlite.OpenFlags
	slots chan struct{} // one token per connection in use

	mu     lockorder.Mutex[lockorder.PoolMu] // guards the rest
	idle   []*sqlite.Conn
	closed bool
}

func newPool(path string, flags ...sqlite.OpenFlags) *pool {
	return &pool{path: path, flags: flags, slots: make(chan struct{}, readers)}
}

// use calls fn with a connection. It waits while all connections are in use.
func (p *pool) use(ctx context.Context, fn func(*sqlite.Conn) error) error {
	lockorder.Acquire[lockorder.PoolSlots]()
	defer lockorder.Release[lockorder.PoolSlots]()
	if err := p.occupy(ctx); err != nil {
		return err
	}
	defer p.vacate()
	conn, err := p.connect()
	if err != nil {
		return sqliteError("eventstore.read", err)
	}
	err = fn(conn)
	p.putBack(conn)
	return sqliteError("eventstore.read", err)
}

// replace calls fn, which replaces the database file, while no connection is in use.
// Reads that start meanwhile wait and then read the new file.
func (p *pool) replace(ctx context.Context, fn func() error) error {
	lockorder.Acquire[lockorder.PoolSlots]()
	defer lockorder.Release[lockorder.PoolSlots]()
	for range cap(p.slots) {
		if err := p.occupy(ctx); err != nil {
			return err
		}
		defer p.vacate()
	}
	p.mu.Lock()
	for _, conn := range p.idle {
		conn.Close() // read only: nothing can be lost
	}
	p.idle = nil
	p.mu.Unlock()
	return fn()
}

// occupy waits for a free slot.
func (p *pool) occupy(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return choir.Wrap("eventstore.read", choir.CodeCancelled, ctx.Err(), "stopped")
	}
}

func (p *pool) vacate() { <-p.slots }

// connect returns an idle connection, or opens a new one.
func (p *pool) connect() (*sqlite.Conn, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, choir.Refuse("eventstore.read", choir.ReasonLogClosed)
	}
	if n := len(p.idle); n > 0 {
		conn := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return conn, nil
	}
	p.mu.Unlock()
	conn, err := sqlite.OpenConn(p.path, p.flags...)
	if err != nil {
		return nil, err
	}
	if err := execute(conn, "PRAGMA cache_size = -512"); err != nil {
		conn.Close() // nothing was read yet
		return nil, err
	}
	return conn, nil
}

// putBack returns a connection to the idle ones, or closes it if the pool is closed.
func (p *pool) putBack(conn *sqlite.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		conn.Close() // read only: nothing can be lost
		return
	}
	p.idle = append(p.idle, conn)
}

// close waits until no connection is in use.
func (p *pool) close() error {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	for range cap(p.slots) {
		<-p.slots
	}
	var first error
	for _, conn := range idle {
		if err := conn.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// openWriter opens the database for writing and migrates its schema. SQLite's
// write-ahead log may grow to 32 MB: a checkpoint writes each page once however often
// it changed, and the indexes change at random places.
func openWriter(path string) (*sqlite.Conn, error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenWAL)
	if err != nil {
		return nil, noRoom(path, err)
	}
	err = os.Chmod(path, 0o600)
	for _, pragma := range []string{"synchronous = NORMAL", "cache_size = " + itoa(writerCache), "temp_store = MEMORY", "wal_autocheckpoint = 8000"} {
		if err == nil {
			err = execute(conn, "PRAGMA "+pragma)
		}
	}
	if err == nil {
		err = migrate(conn)
	}
	if err != nil {
		conn.Close()
		return nil, noRoom(path, err)
	}
	return conn, nil
}

// openingNeeds is the number of free bytes that SQLite needs for the files it creates
// beside a database.
const openingNeeds = 1 << 20

// noRoom returns a no_space error for an I/O error of opening the database if the disk
// is full, because SQLite's own error does not tell; else err.
func noRoom(path string, err error) error {
	var disk unix.Statfs_t
	if sqlite.ErrCode(err).ToPrimary() != sqlite.ResultIOErr || unix.Statfs(filepath.Dir(path), &disk) != nil {
		return err
	}
	if free := int64(disk.Bavail) * disk.Bsize; free >= openingNeeds {
		return err
	}
	return diskFull("eventstore.open", err)
}

func diskFull(op string, err error) error {
	full := choir.Refuse(op, choir.ReasonLogDiskFull).At("store.sqlite")
	full.Err = err
	return full
}

// migrate brings the schema up to date. A new or changed projection is created empty:
// Open recognises by the stamp that its rows are missing, and rebuilds all projections.
func migrate(conn *sqlite.Conn) (err error) {
	have, err := queryInt(conn, "PRAGMA user_version")
	if err != nil {
		return err
	}
	version := int(have)
	if version > schemaVersion {
		return errNewerCopy
	}
	if version == schemaVersion {
		return nil
	}
	end, err := sqlitex.ImmediateTransaction(conn)
	if err != nil {
		return err
	}
	fault.Point("store.migrate")
	defer end(&err)
	if version == 0 {
		err = createAll(conn)
	} else {
		err = migrateFrom(conn, version)
	}
	if err != nil {
		return err
	}
	return execute(conn, "PRAGMA user_version = "+itoa(schemaVersion))
}

// createAll creates the schema of a new copy.
func createAll(conn *sqlite.Conn) error {
	if err := sqlitex.ExecuteScript(conn, eventsSchema, nil); err != nil {
		return err
	}
	for _, t := range projections {
		if err := sqlitex.ExecuteScript(conn, t.projected().create(), nil); err != nil {
			return err
		}
	}
	if err := execute(conn, repoIndex); err != nil {
		return err
	}
	return writeStamp(conn)
}

// migrateFrom migrates a copy of an older schema version.
func migrateFrom(conn *sqlite.Conn, version int) error {
	for next := version + 1; next <= scripted; next++ {
		script, err := scripts.ReadFile("migration_" + itoa(next) + ".sql")
		if err != nil {
			return err
		}
		if err := sqlitex.ExecuteScript(conn, string(script), nil); err != nil {
			return err
		}
	}
	for _, t := range projections {
		p := t.projected()
		if p.since <= max(version, scripted) {
			continue
		}
		if err := sqlitex.ExecuteScript(conn, "DROP TABLE IF EXISTS "+p.name+";\n"+p.create(), nil); err != nil {
			return err
		}
	}
	if version < firstsVersion {
		if err := fillFirsts(conn); err != nil {
			return err
		}
	}
	if version < cursorsVersion {
		if err := execute(conn, cursorsTable); err != nil {
			return err
		}
	}
	if version < repoIndexVersion {
		return execute(conn, repoIndex)
	}
	return nil
}

// errNewerCopy reports a SQLite copy with a newer schema. The copy is then made anew
// from the journal.
var errNewerCopy = choir.Refuse("eventstore.open", choir.ReasonSQLiteOfNewer)

// stamp returns a hash of the schema and the reducers' event types. Copies made by an
// older or newer choir have another stamp. It is stored as SQLite's application_id.
func stamp() int32 {
	said := fmt.Appendf(nil, "%d", schemaVersion)
	for _, t := range projections {
		p := t.projected()
		said = fmt.Appendf(said, " %s %d %v", p.name, p.since, slices.Sorted(maps.Keys(p.on)))
	}
	for _, info := range choir.Types() {
		said = fmt.Appendf(said, " %v", info.Once)
	}
	sum := crc32.ChecksumIEEE(said)
	return int32(sum>>1) | 1
}

func writeStamp(conn *sqlite.Conn) error {
	return execute(conn, "PRAGMA application_id = "+itoa(int(stamp())))
}

// updateStamp writes the stamp unless the copy already has it.
func updateStamp(conn *sqlite.Conn) error {
	id, err := queryInt(conn, "PRAGMA application_id")
	if err != nil || id == int64(stamp()) {
		return err
	}
	return writeStamp(conn)
}

// madeByOthers reports whether another version of choir wrote the projections: the
// stamp or the schema version differs.
func madeByOthers(conn *sqlite.Conn) (bool, error) {
	id, err := queryInt(conn, "PRAGMA application_id")
	if err != nil || id != int64(stamp()) {
		return true, err
	}
	version, err := queryInt(conn, "PRAGMA user_version")
	return int(version) != schemaVersion, err
}

func execute(conn *sqlite.Conn, sql string) error { return sqlitex.ExecuteTransient(conn, sql, nil) }

func queryInt(conn *sqlite.Conn, sql string, args ...any) (int64, error) {
	var n int64
	err := sqlitex.Execute(conn, sql, &sqlitex.ExecOptions{Args: args, ResultFunc: func(st *sqlite.Stmt) error {
		n = st.ColumnInt64(0)
		return nil
	}})
	return n, err
}

func damagedCopy(op string, err error) error {
	damaged := choir.Refuse(op, choir.ReasonSQLiteDamagedNow).At("store.sqlite")
	damaged.Err = err
	return damaged
}

// isMalformedJSON reports whether an SQLite JSON function failed on invalid JSON. All
// values were written as valid JSON, so a page of the file is damaged.
func isMalformedJSON(err error) bool {
	return sqlite.ErrCode(err).ToPrimary() == sqlite.ResultError && strings.Contains(err.Error(), "malformed JSON")
}

// sqliteError turns an error of SQLite into a *choir.Error with a code. nil and errors
// with a code are returned unchanged.
func sqliteError(op string, err error) error {
	if err == nil {
		return nil
	}
	if choir.CodeOf(err) != choir.CodeInternal {
		return err
	}
	if sqlite.ErrCode(err) == sqlite.ResultIOErrSHMSize {
		// The index beside the WAL has no room, and says nothing of why.
		return diskFull(op, err)
	}
	code := sqlite.ErrCode(err).ToPrimary()
	switch {
	case code == sqlite.ResultFull:
		return diskFull(op, err)
	case code == sqlite.ResultCorrupt, code == sqlite.ResultNotADB, isMalformedJSON(err):
		return damagedCopy(op, err)
	}
	return &choir.Error{Op: op, Code: choir.CodeInternal, Path: "store.sqlite", Msg: "SQLite refused", Err: err}
}

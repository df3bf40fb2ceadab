package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// harm is damage to the folder of a choir that has stopped.
type harm struct {
	name   string
	do     func(*bench) error
	expect func(*checker) // what of the check does not hold then, and what must
}

func (h harm) row(n int) row {
	return row{fmt.Sprintf("%s, %d", h.name, n), func(ctx context.Context, b *bench) error {
		if err := b.used(ctx); err != nil {
			return fmt.Errorf("before the damage: %w", err)
		}
		if err := h.do(b); err != nil {
			return fmt.Errorf("damage: %w", err)
		}
		if err := b.startChoir(""); err != nil {
			return err
		}
		if err := b.watch(b.seed, []string{"task,prompt"}); err != nil {
			return err
		}
		if err := b.finishRun(ctx); err != nil {
			return err
		}
		return b.found(h.expect)
	}}
}

var harms = []harm{
	{"a bit flipped in the journal", func(b *bench) error { return b.flip("computers/*/journal/*.seg") }, reported},
	{"the journal cut short", func(b *bench) error { return b.shorten("computers/*/journal/*.seg") }, reported},
	{"the journal's segment gone", func(b *bench) error { return b.lose("computers/*/journal/*.seg") }, reported},
	{"the journal's mark gone", func(b *bench) error { return b.lose("computers/*/journal/mark") }, anything},
	{"a bit flipped in SQLite", func(b *bench) error { return b.flip("computers/*/store.sqlite") }, anything},
	{"SQLite cut short", func(b *bench) error { return b.shorten("computers/*/store.sqlite") }, reported},
	{"SQLite gone", loseSQLite, reported},
	{"SQLite is no database", spoilSQLite, reported},
	{"an event changed in SQLite", func(b *bench) error { return b.forgeRow() }, reported},
	{"a file of the bus flipped", func(b *bench) error { return b.flipBelow("bus") }, anything},
	{"a file of the bus cut short", func(b *bench) error { return b.shortenBelow("bus") }, anything},
	{"the store of the bus gone", func(b *bench) error { return b.lose("bus/store") }, anything},
	{"the relay's cursor ahead of the log", func(b *bench) error { return b.sql("UPDATE cursors SET seq = 999999") }, anything},
	{"a bit flipped in a blob", func(b *bench) error { return b.flipBelow("computers/*/blobs") }, func(c *checker) { c.noBlobs = true }},
	{"a bit flipped in a git object", func(b *bench) error {
		return b.flipBelow("computers/*/associate/workspace/.git/objects")
	}, outside},
}

// unseenByOpen is damage that an open does not look at: it comes to light while
// choir works.
var unseenByOpen = []harm{
	{"a bit flipped in a sealed segment", (*bench).flipSealed, reported},
	{"an event changed in SQLite", (*bench).forgeRow, reported},
	{"a page of SQLite is rubbish", (*bench).spoilPage, reported},
}

// unseenAtRest is damage that only a verification finds.
var unseenAtRest = []harm{
	{"a bit flipped in a sealed segment", (*bench).flipSealed, reported},
	{"a page of SQLite is rubbish", (*bench).spoilPage, reported},
	{"a projection changed in SQLite", (*bench).spoilProjection, reported},
}

// filled is damage whose repair wants room on the disk.
var filled = []harm{
	{"a bit flipped in a sealed segment", (*bench).flipSealed, reported},
	{"a page of SQLite is rubbish", (*bench).spoilPage, reported},
}

// flipSealed flips a bit in the journal's first segment, behind its header.
func (b *bench) flipSealed() error {
	found, err := filepath.Glob(filepath.Join(b.data, "computers/*/journal/*.seg"))
	if err != nil || len(found) < 2 {
		return fmt.Errorf("the journal has no sealed segment: %w", err)
	}
	raw, err := os.ReadFile(found[0])
	if err != nil {
		return err
	}
	at := 52 + b.rand.IntN(len(raw)-52)
	return patch(found[0], int64(at), raw[at]^1<<b.rand.IntN(8))
}

// spoilPage writes over pages in the middle of SQLite's file.
func (b *bench) spoilPage() error {
	path, err := b.one("computers/*/store.sqlite")
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	const page = 4096
	at := info.Size() / page / 2 * page
	return patch(path, at, bytes.Repeat([]byte("rubbish "), 4*page/8)...)
}

// spoilProjection changes what a projection says.
func (b *bench) spoilProjection() error {
	return b.sql("UPDATE settings SET value = replace(value, 'crash', 'wrong'); UPDATE overlays SET value = replace(value, 'resolved', 'accepted');")
}

func anything(*checker) {}

// reported demands that the log itself says it was repaired.
func reported(c *checker) { c.must = append(c.must, "log.repaired") }

// outside demands that a change of the workspace was noticed.
func outside(c *checker) {
	c.noGit = true
	c.must = append(c.must, "changed_outside")
}

func (b *bench) one(pattern string) (string, error) {
	found, err := filepath.Glob(filepath.Join(b.data, pattern))
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("nothing is %s: %w", pattern, err)
	}
	return found[b.rand.IntN(len(found))], nil
}

// below is a random file that has content.
func (b *bench) below(pattern string) (string, error) {
	top, err := b.one(pattern)
	if err != nil {
		return "", err
	}
	var files []string
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			files = append(files, path)
		}
		return nil
	})
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("no file below %s: %w", top, err)
	}
	return files[b.rand.IntN(len(files))], nil
}

func (b *bench) flip(pattern string) error {
	path, err := b.one(pattern)
	if err != nil {
		return err
	}
	return b.flipFile(path)
}

func (b *bench) flipBelow(pattern string) error {
	path, err := b.below(pattern)
	if err != nil {
		return err
	}
	return b.flipFile(path)
}

func (b *bench) flipFile(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	at := b.rand.IntN(len(raw))
	return patch(path, int64(at), raw[at]^1<<b.rand.IntN(8))
}

// patch writes bytes over others, so that a process that has the file open sees
// them there.
func patch(path string, at int64, bytes ...byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(bytes, at)
	return errors.Join(err, f.Sync(), f.Close())
}

func (b *bench) overwrite(path string, raw []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	return errors.Join(err, f.Sync(), f.Close())
}

func (b *bench) shorten(pattern string) error {
	path, err := b.one(pattern)
	if err != nil {
		return err
	}
	return b.shortenFile(path)
}

func (b *bench) shortenBelow(pattern string) error {
	path, err := b.below(pattern)
	if err != nil {
		return err
	}
	return b.shortenFile(path)
}

func (b *bench) shortenFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, b.rand.Int64N(info.Size()))
}

func (b *bench) lose(pattern string) error {
	path, err := b.one(pattern)
	if err != nil {
		return err
	}
	return os.RemoveAll(path)
}

func loseSQLite(b *bench) error { return b.lose("computers/*/store.sqlite") }

func spoilSQLite(b *bench) error {
	path, err := b.one("computers/*/store.sqlite")
	if err != nil {
		return err
	}
	return b.overwrite(path, []byte(strings.Repeat("this is no database\n", 500)))
}

// killInUse kills a choir that works, so that the next finds content in the log
// of the blobs that has no file.
func killInUse(b *bench) error {
	if err := b.startChoir("kill blob.wal.synced 1"); err != nil {
		return err
	}
	driver, err := start(exec.Command(b.machine.self, "drive", "-data", b.data, "-seed", b.seed+"-killed", "task,look,task,prompt"))
	if err != nil {
		return err
	}
	err = until(context.Background(), "choir is killed", func() bool { return b.up.ended() || driver.ended() })
	if err == nil && !b.up.killed() {
		err = errors.New("choir was not killed: " + b.last())
	}
	if kerr := driver.cmd.Process.Kill(); !errors.Is(kerr, os.ErrProcessDone) {
		err = errors.Join(err, kerr)
	}
	return err
}

func (b *bench) forgeRow() error {
	return b.sql("UPDATE events SET event = replace(event, 'a', 'b') WHERE seq = 3")
}

// sql changes the SQLite copy, beside a choir that writes to it as well.
func (b *bench) sql(change string) error {
	path, err := b.one("computers/*/store.sqlite")
	if err != nil {
		return err
	}
	out, err := exec.Command("sqlite3", path, "PRAGMA busy_timeout = 30000; "+change).CombinedOutput()
	if err != nil {
		return fmt.Errorf("sqlite3: %w: %s", err, out)
	}
	return nil
}

// bothRow damages one event in both copies: it must be named.
func bothRow(n int) row {
	return row{fmt.Sprintf("event %d damaged in both copies is named", n), func(ctx context.Context, b *bench) error {
		if err := b.used(ctx); err != nil {
			return err
		}
		if err := b.spoilBoth(n); err != nil {
			return err
		}
		said, err := exec.CommandContext(ctx, b.choir, "log", "--verify", "--data", b.data).CombinedOutput()
		if err == nil || !strings.Contains(string(said), fmt.Sprintf("hole      events %d to %d", n, n)) {
			return fmt.Errorf("choir log --verify: %v, and names no hole at %d:\n%s", err, n, said)
		}
		return nil
	}}
}

// spoilBoth damages an event in both copies.
func (b *bench) spoilBoth(n int) error {
	dir, err := b.one("computers/*")
	if err != nil {
		return err
	}
	events, _ := readJournal(filepath.Join(dir, "journal"))
	if len(events) < n {
		return fmt.Errorf("only %d events", len(events))
	}
	e := events[n-1]
	raw, err := os.ReadFile(e.file)
	if err != nil {
		return err
	}
	return errors.Join(b.sql(fmt.Sprintf("UPDATE events SET event = replace(event, 'a', 'b') WHERE seq = %d", n)),
		patch(e.file, int64(e.at+40), raw[e.at+40]^4))
}

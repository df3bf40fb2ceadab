package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// writers are the threads that append while something else happens to the log.
// They go on until bench.quiet. The first of every sixteen steps is a note, which
// begins the document of the others.
var writers = []string{"~note", "~note", "~note", "~note,note,note,note,note,note,note,prompt", "~note,document,note,desk"}

// growing are the threads that fill more than one segment of the journal.
var growing = []string{repeat("note", 180), repeat("note", 180), repeat("note", 180), "document,desk,document,desk,task"}

// repeat is a thread that does one thing n times.
func repeat(verb string, n int) string {
	return strings.TrimSuffix(strings.Repeat(verb+",", n), ",")
}

// grown is a used folder whose journal has more than one segment. It is a copy
// of the first that the worker made, see begun.
func (b *bench) grown(ctx context.Context) error {
	return b.copied(ctx, "grown", func(m *bench) error {
		if err := m.used(ctx); err != nil {
			return err
		}
		if err := errors.Join(m.startChoir(""), m.watch(m.seed+"-more", growing), m.finish(ctx)); err != nil {
			return err
		}
		found, err := filepath.Glob(filepath.Join(m.data, "computers/*/journal/*.seg"))
		if err == nil && len(found) < 2 {
			err = fmt.Errorf("the journal has %d segments: nothing is sealed", len(found))
		}
		return err
	})
}

// write starts writers that go on until quiet, and returns when they append.
func (b *bench) write(ctx context.Context) error {
	b.during = filepath.Join(b.dir, "writing")
	err := os.WriteFile(b.during, nil, 0o600)
	if err == nil {
		err = b.watch(b.seed, writers)
	}
	if err != nil {
		return err
	}
	return b.appended(ctx, 40)
}

// appended returns when so many more steps were acknowledged, or the writers
// have ended.
func (b *bench) appended(ctx context.Context, more int64) error {
	const least = 60 // bytes of a line
	size := func() int64 {
		info, err := os.Stat(b.ackFile())
		if err != nil {
			return 0
		}
		return info.Size()
	}
	enough := size() + more*least
	return until(ctx, "writers append", func() bool { return size() >= enough || b.driver.ended() || b.up.ended() })
}

// quiet lets the writers end after the step that each is at.
func (b *bench) quiet() error {
	if b.during == "" {
		return nil
	}
	return os.Remove(b.during)
}

// ask runs a command of choir on the data folder and gives what it printed.
func (b *bench) ask(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, stretched(limit))
	defer cancel()
	said, err := exec.CommandContext(ctx, b.choir, append(args, "--data", b.data)...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("choir %s: %w: %s", strings.Join(args, " "), err, said)
	}
	return string(said), err
}

// whileAppending damages the log of a choir that appends, has it verified or
// repaired meanwhile, ends choir in order or by a kill, starts it again, lets the
// writers end and looks.
func (h harm) whileAppending(n int) row {
	return row{fmt.Sprintf("%s, while appending, %d", h.name, n), func(ctx context.Context, b *bench) error {
		if err := errors.Join(b.grown(ctx), b.startChoir(""), b.write(ctx)); err != nil {
			return fmt.Errorf("before the damage: %w", err)
		}
		if err := h.do(b); err != nil {
			return fmt.Errorf("damage: %w", err)
		}
		if _, err := b.ask(ctx, "log", []string{"--verify", "--repair"}[n%2]); err != nil {
			return err
		}
		if err := b.appended(ctx, 40); err != nil {
			return err
		}
		return b.endAndLook(ctx, n%4 < 2, func(c *checker) {
			h.expect(c)
			// Beside a task nobody can tell whose change of the workspace it was.
			c.must = slices.DeleteFunc(c.must, func(word string) bool { return word == "changed_outside" })
		})
	}}
}

// inTheBackground damages a log at rest where no open looks, and has the check
// in the background find it while writers append.
func (h harm) inTheBackground(n int) row {
	return row{fmt.Sprintf("%s, found in the background while appending, %d", h.name, n), func(ctx context.Context, b *bench) error {
		if err := b.grown(ctx); err != nil {
			return fmt.Errorf("before the damage: %w", err)
		}
		if err := h.do(b); err != nil {
			return fmt.Errorf("damage: %w", err)
		}
		if err := errors.Join(b.startChoir(""), b.write(ctx)); err != nil {
			return err
		}
		if err := until(ctx, "the log says that it was repaired", func() bool { return b.up.ended() || b.driver.ended() || b.says("log.repaired") }); err != nil {
			return err
		}
		return b.endAndLook(ctx, n%2 == 0, h.expect)
	}}
}

// says reports whether the log has an event of a type.
func (b *bench) says(kind string) bool {
	dir, err := b.one("computers/*")
	if err != nil {
		return false
	}
	events, _ := readJournal(filepath.Join(dir, "journal")) // what is wrong with it is found at the end
	return slices.ContainsFunc(events, func(e event) bool { return e.Type == kind })
}

// endAndLook ends a choir that appends, starts it again, lets the writers end
// and looks.
func (b *bench) endAndLook(ctx context.Context, inOrder bool, expect func(*checker)) error {
	if inOrder {
		if err := b.stop(ctx); err != nil {
			return err
		}
	} else {
		b.kill()
	}
	if err := errors.Join(b.startChoir(""), b.quiet(), b.finishRun(ctx)); err != nil {
		return err
	}
	if b.driver.err != nil {
		return fmt.Errorf("a writer gave up: %s", strings.TrimSpace(b.driver.said.String()))
	}
	return b.found(expect)
}

// bothWhileAppending damages one event in both copies while writers append: it
// must be named, and nothing else may be lost.
func bothWhileAppending(n int) row {
	return row{fmt.Sprintf("event %d damaged in both copies, while appending, is named", n), func(ctx context.Context, b *bench) error {
		if err := errors.Join(b.grown(ctx), b.startChoir(""), b.write(ctx)); err != nil {
			return fmt.Errorf("before the damage: %w", err)
		}
		if err := b.spoilBoth(n); err != nil {
			return err
		}
		hole := fmt.Sprintf("hole      events %d to %d", n, n)
		for _, how := range []string{"--repair", "--verify"} {
			if said, err := b.ask(ctx, "log", how); err == nil || !strings.Contains(said, hole) {
				return fmt.Errorf("choir log %s names no hole at %d: %w\n%s", how, n, err, said)
			}
		}
		b.kill()
		// Nobody can append any more, so the writers would try for long.
		b.endWriters()
		said, err := b.ask(ctx, "log", "--verify")
		if err == nil || !strings.Contains(said, hole) {
			return fmt.Errorf("choir log --verify, at rest, names no hole at %d: %w\n%s", n, err, said)
		}
		return b.readable(ctx, n)
	}}
}

// endWriters ends the writers where they are, and waits for the recorder.
func (b *bench) endWriters() {
	_ = b.driver.cmd.Process.Kill() // it may have ended meanwhile
	<-b.driver.done
	<-b.keeper.done
}

// readable holds every acknowledged event, except one, against what choir still
// reads out.
func (b *bench) readable(ctx context.Context, but int) error {
	acks, err := acknowledged(b.ackFile())
	if err != nil {
		return err
	}
	said, err := exec.CommandContext(ctx, b.choir, "log", "--json", "--data", b.data).Output()
	if err != nil {
		return fmt.Errorf("choir log: %w", err)
	}
	there, err := hashes(said)
	if err != nil {
		return err
	}
	var wrong []error
	for _, a := range acks {
		hash, ok := there[a.Seq]
		switch {
		case a.Seq == 0 || a.Seq == uint64(but):
		case !ok:
			wrong = append(wrong, fmt.Errorf("acknowledged event %d (%s %s) is lost", a.Seq, a.Verb, a.Key))
		case a.Hash != "" && a.Hash != hash:
			wrong = append(wrong, fmt.Errorf("event %d is not the one that was acknowledged", a.Seq))
		}
	}
	return errors.Join(wrong[:min(len(wrong), 12)]...)
}

// diskFullWhileRepairing damages a log while writers append, takes all room, has
// it verified, and gives the room back.
func diskFullWhileRepairing(h harm, n int) row {
	return row{fmt.Sprintf("%s, and a full disk while repairing, %d", h.name, n), func(ctx context.Context, b *bench) error {
		if err := b.onSmallDisk(192); err != nil {
			return err
		}
		if err := errors.Join(b.grown(ctx), b.startChoir(""), b.write(ctx)); err != nil {
			return fmt.Errorf("before the damage: %w", err)
		}
		ballast := filepath.Join(b.dir, "m", "ballast")
		if err := errors.Join(h.do(b), fill(ballast)); err != nil {
			return fmt.Errorf("damage: %w", err)
		}
		// Without room it may fail; it may not make anything worse.
		_, failed := b.ask(ctx, "log", "--repair")
		// The writers meet the full disk for a while more. A writer that is refused
		// tries again and says nothing, so there is no event to wait for.
		time.Sleep(200 * time.Millisecond)
		if err := os.Remove(ballast); err != nil {
			return err
		}
		if _, err := b.ask(ctx, "log", "--repair"); err != nil {
			return fmt.Errorf("with room again: %w (and without: %w)", err, failed)
		}
		return b.endAndLook(ctx, n%2 == 0, h.expect)
	}}
}

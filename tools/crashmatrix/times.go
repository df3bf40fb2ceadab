package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// randomFault kills, or cuts the power, at a random moment.
func randomFault(n int, how string) row {
	what := "SIGKILL"
	if how != "" {
		what = "power cut (" + how + ")"
	}
	return row{fmt.Sprintf("%s at a random moment, %d", what, n), func(ctx context.Context, b *bench) error {
		if err := b.prepareRandom(ctx, n, how != ""); err != nil {
			return fmt.Errorf("before the fault: %w", err)
		}
		if err := errors.Join(b.startChoir(""), b.watch(b.seed, usual)); err != nil {
			return err
		}
		select {
		case <-time.After(time.Duration(b.rand.Int64N(int64(1500 * time.Millisecond)))):
		case <-b.driver.done:
		}
		b.kill()
		if how == "random" {
			how = fmt.Sprintf("random %d", b.rand.Uint32())
		}
		if how != "" {
			if err := b.powerCut(how); err != nil {
				return err
			}
		}
		if err := errors.Join(b.startChoir(""), b.finishRun(ctx)); err != nil {
			return err
		}
		return b.found(func(c *checker) { c.noGit = how != "" })
	}}
}

// prepareRandom has most rows begin with a copy, and one in ten from the very
// beginning.
func (b *bench) prepareRandom(ctx context.Context, n int, ownDisk bool) error {
	if ownDisk {
		if err := b.ownDisk(); err != nil {
			return err
		}
	}
	anew := n%10 == 0
	if !anew {
		if err := b.begun(ctx); err != nil {
			return err
		}
	}
	if ownDisk {
		if err := b.disk.plugIn(); err != nil {
			return err
		}
	}
	if anew {
		return b.used(ctx)
	}
	return nil
}

// fullDisk fills the disk while a driver works, and gives room again.
func fullDisk(n int) row {
	return row{fmt.Sprintf("a full disk, %d", n), func(ctx context.Context, b *bench) (err error) {
		if err := b.onSmallDisk(96); err != nil {
			return err
		}
		if err := b.used(ctx); err != nil {
			return fmt.Errorf("before the fault: %w", err)
		}
		if err := errors.Join(b.startChoir(""), b.watch(b.seed, usual)); err != nil {
			return err
		}
		if err := b.ready(ctx); err != nil {
			return err // without room it does not start, and says so
		}
		ballast := filepath.Join(b.dir, "m", "ballast")
		time.Sleep(time.Duration(b.rand.Int64N(int64(800 * time.Millisecond))))
		if err := fill(ballast); err != nil {
			return err
		}
		time.Sleep(500 * time.Millisecond)
		if err := errors.Join(os.Remove(ballast), b.finishRun(ctx)); err != nil {
			return err
		}
		return b.found()
	}}
}

// onSmallDisk puts the data folder on a disk of so many MiB.
func (b *bench) onSmallDisk(mib int) (err error) {
	at := filepath.Join(b.dir, "m")
	b.disk, err = smallDisk(at, mib)
	b.data = filepath.Join(at, "data")
	return err
}

// fill writes until nothing fits any more.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for block := make([]byte, 64<<10); len(block) > 0; {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			block = block[:len(block)/2]
		} else if err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// clock steps the clock back and forth while a driver works, and over a restart.
func clock(n int) row {
	return row{fmt.Sprintf("the clock steps back and forth, %d", n), func(ctx context.Context, b *bench) error {
		if err := b.used(ctx); err != nil {
			return fmt.Errorf("before the fault: %w", err)
		}
		b.clock = filepath.Join(b.dir, "clock")
		step := func() error {
			return os.WriteFile(b.clock, fmt.Appendf(nil, "%d\n", b.rand.Int64N(4*86400)-2*86400), 0o600)
		}
		if err := errors.Join(step(), b.startChoir(""), b.watch(b.seed, usual)); err != nil {
			return err
		}
		for !b.driver.ended() {
			if err := step(); err != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
		b.kill()
		if err := errors.Join(step(), b.startChoir(""), b.finishRun(ctx)); err != nil {
			return err
		}
		return b.found()
	}}
}

// sabotaged are rows on builds that lack what the contract needs: the matrix
// has to find it.
func sabotaged() []row {
	expect := func(name, binary, word string, run func(context.Context, *bench) error) row {
		return row{"the matrix finds " + name, func(ctx context.Context, b *bench) error {
			b.choir = filepath.Join(b.bin, binary)
			err := run(ctx, b)
			if err == nil || !strings.Contains(err.Error(), word) {
				return fmt.Errorf("it found nothing of %s: %w", name, errors.Join(err, errors.New("no "+word)))
			}
			return nil
		}}
	}
	cut := fault{point: point{name: "store.commit"}, nth: 6, cut: "drop", threads: usual}
	again := []string{"task,again,again,task,again"}
	return []row{
		expect("that nothing is synced", "choir-nosync", "acknowledged", cut.row().run),
		expect("that the chain is not checked", "choir-nochain", "journal:", func(ctx context.Context, b *bench) error {
			if err := b.forgeEvent(ctx); err != nil {
				return err
			}
			return b.aftermath(ctx)
		}),
		expect("that task keys are ignored", "choir-nokeys", "twice", func(ctx context.Context, b *bench) error {
			if err := errors.Join(b.used(ctx), b.startChoir(""), b.watch(b.seed, again), b.finishRun(ctx)); err != nil {
				return err
			}
			return b.found()
		}),
		{"an event forged in the journal", forged},
	}
}

// forged changes an event in the journal so that its record is sound. Only the chain
// and the other copy tell: it has to be repaired, whichever record follows it.
func forged(ctx context.Context, b *bench) error {
	if err := b.forgeEvent(ctx); err != nil {
		return err
	}
	said, err := exec.CommandContext(ctx, b.choir, "log", "--verify", "--data", b.data).CombinedOutput()
	if strings.Contains(string(said), "\nhole ") {
		return fmt.Errorf("choir log --verify: %w: the other copy has the event:\n%s", err, said)
	}
	return b.aftermath(ctx)
}

// aftermath works on with what was forged, and looks.
func (b *bench) aftermath(ctx context.Context) error {
	if err := errors.Join(b.startChoir(""), b.finishRun(ctx)); err != nil {
		return err
	}
	return b.found(reported)
}

func (b *bench) forgeEvent(ctx context.Context) error {
	if err := b.used(ctx); err != nil {
		return err
	}
	dir, err := b.one("computers/*")
	if err != nil {
		return err
	}
	events, _ := readJournal(filepath.Join(dir, "journal"))
	raw, err := os.ReadFile(events[3].file)
	if err == nil {
		err = b.overwrite(events[3].file, forge(raw, events[3]))
	}
	return err
}

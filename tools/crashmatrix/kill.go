package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// fault is a kill or a power cut, once at a point.
type fault struct {
	point   point
	nth     int
	cut     string // how the power is cut; empty for a kill
	threads []string
}

func (f fault) name() string {
	what := "SIGKILL"
	if f.cut != "" {
		what = "power cut (" + f.cut + ")"
	}
	where := f.point.name
	if f.point.doing != "" {
		where += " (" + f.point.doing + ")"
	}
	return fmt.Sprintf("%s at %s, passing %d", what, where, f.nth)
}

// row prepares a folder, lets the fault happen while a driver works, starts
// choir again, lets the driver end and looks.
func (f fault) row() row {
	return row{f.name(), func(ctx context.Context, b *bench) error {
		if err := f.prepare(ctx, b); err != nil {
			return fmt.Errorf("before the fault: %w", err)
		}
		if err := f.happen(ctx, b); err != nil {
			return err
		}
		if err := b.finishRun(ctx); err != nil {
			return err
		}
		// Nobody syncs the workspace: after a power cut its files may be older,
		// which the log then says; what was acknowledged is in the snapshots.
		return b.found(func(c *checker) { c.noGit = f.cut != "" })
	}}
}

func (f fault) prepare(ctx context.Context, b *bench) error {
	if f.cut != "" {
		if err := b.ownDisk(); err != nil {
			return err
		}
	}
	if f.point.grown {
		if err := b.grown(ctx); err != nil {
			return err
		}
	}
	if f.cut != "" {
		if err := b.disk.plugIn(); err != nil {
			return err
		}
	}
	if f.point.fresh {
		return b.fresh()
	}
	if !f.point.grown {
		use := b.begun
		if f.cut != "" {
			use = b.used // what it left unsynced may be lost, too
		}
		if err := use(ctx); err != nil {
			return err
		}
	}
	if err := b.daysLater(f.point.later); err != nil {
		return err
	}
	if f.point.damage != nil {
		return f.point.damage(b)
	}
	return nil
}

// backing is where the data folder's content is kept.
func (b *bench) backing() string {
	if b.disk != nil && b.disk.backing != "" {
		return filepath.Join(b.disk.backing, "data")
	}
	return b.data
}

// ownDisk lays out a disk whose power can be cut, for the data folder; it is not
// plugged in yet.
func (b *bench) ownDisk() error {
	d := &disk{program: filepath.Join(b.bin, "powercut"), backing: filepath.Join(b.dir, "back"), at: filepath.Join(b.dir, "m")}
	d.source = d.backing
	for _, dir := range []string{d.backing, d.at} {
		if err := os.Mkdir(dir, 0o711); err != nil {
			return err
		}
	}
	b.disk, b.data = d, filepath.Join(d.at, "data")
	return nil
}

// happen lets the fault happen and starts choir again.
func (f fault) happen(ctx context.Context, b *bench) error {
	act := "kill"
	if f.cut != "" {
		act = "stop"
	}
	plan := fmt.Sprintf("%s %s %d", act, f.point.name, f.nth)
	if f.point.guest {
		if err := b.guestPlan(fmt.Sprintf("hold %s %d", f.point.name, f.nth)); err != nil {
			return err
		}
		plan = ""
	}
	if err := b.startChoir(plan); err != nil {
		return err
	}
	if err := b.watch(b.seed, f.threads); err != nil {
		return err
	}
	if err := f.wait(ctx, b); err != nil {
		return err
	}
	if f.point.guest && f.cut == "" {
		return nil // the control plane goes on
	}
	if f.cut != "" {
		if err := b.powerCut(f.cut); err != nil {
			return err
		}
	}
	return b.startChoir("")
}

// wait returns when the fault has come. A point that is passed when choir stops
// is reached by stopping it.
func (f fault) wait(ctx context.Context, b *bench) error {
	held := 0
	reached := func() bool {
		switch {
		case f.point.guest:
			held = b.held()
			return held != 0
		case f.cut != "":
			return b.stopped()
		}
		return b.up.ended()
	}
	err := until(ctx, "the point is passed, or the driver ends", func() bool { return reached() || b.driver.ended() || b.up.ended() })
	if err == nil && !reached() && b.driver.ended() && !f.point.guest && !b.up.ended() {
		if err = b.up.cmd.Process.Signal(os.Interrupt); err == nil {
			err = until(ctx, "the point is passed while choir stops", func() bool { return reached() || b.up.ended() })
		}
	}
	if err != nil {
		return err
	}
	switch {
	case !reached(), b.up.ended() && !b.up.killed():
		return errors.New("the point was never passed: " + b.last())
	case f.point.guest:
		if err := b.guestPlan(""); err != nil {
			return err
		}
		return kill(held)
	}
	return nil
}

// powerCut takes the power from everything at once and puts the disk back.
func (b *bench) powerCut(how string) error {
	if err := b.disk.cut(how); err != nil {
		return err
	}
	b.crash()
	if err := b.disk.unplug(); err != nil {
		return err
	}
	return b.disk.plugIn()
}

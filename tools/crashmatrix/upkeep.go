package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// upkeep is work on a whole log, or on what belongs to it, beside appends.
type upkeep struct {
	name   string
	damage func(*bench) error // what makes it necessary
	thread string             // what a driver does
	later  bool               // days have gone by since the folder was used
	expect func(*checker)
}

var upkeeps = []upkeep{
	{"verify", nil, "verify,verify,verify", false, anything},
	{"repair", (*bench).flipSealed, "verify,verify", false, reported},
	{"remake", (*bench).spoilPage, "verify,verify", false, reported},
	{"rebuild", (*bench).spoilProjection, "verify,verify", false, reported},
	{"collect", nil, "collect,task,collect,look", true, anything},
	{"export", nil, "export,export,export", false, anything},
	{"fork", nil, "fork,task,fork", false, anything},
	{"import", nil, "import,task,import", false, anything},
	{"checkpoint", nil, "checkpoint,task,checkpoint,task,checkpoint", false, anything},
}

// beside returns a thread of maintenance, and threads that append meanwhile.
func beside(thread string) []string {
	return []string{thread, repeat("note", 60), repeat("note", 60), repeat("note", 60), "document,desk,prompt,document,desk,prompt"}
}

// row has the work done beside appends, ends choir, starts it again and looks.
func (u upkeep) row(n int) row {
	return row{fmt.Sprintf("%s beside appends, %d", u.name, n), func(ctx context.Context, b *bench) error {
		if err := b.grown(ctx); err != nil {
			return fmt.Errorf("before the work: %w", err)
		}
		if err := b.daysLater(u.later); err != nil {
			return err
		}
		if u.damage != nil {
			if err := u.damage(b); err != nil {
				return fmt.Errorf("damage: %w", err)
			}
		}
		if err := errors.Join(b.startChoir(""), b.watch(b.seed, beside(u.thread))); err != nil {
			return err
		}
		if err := until(ctx, "the driver ends", func() bool { return b.driver.ended() || b.up.ended() }); err != nil {
			return err
		}
		return b.endAndLook(ctx, n%2 == 0, u.expect)
	}}
}

// daysLater moves the clock on.
func (b *bench) daysLater(yes bool) error {
	if !yes {
		return nil
	}
	b.clock = filepath.Join(b.dir, "clock")
	return os.WriteFile(b.clock, []byte("259200\n"), 0o600)
}

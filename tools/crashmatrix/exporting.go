package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// exportKilled kills the command choir export at a point. The file is there whole
// or not at all, and the next export gives it.
func exportKilled(p point) row {
	return row{"SIGKILL of choir export at " + p.name, func(ctx context.Context, b *bench) error {
		if err := errors.Join(b.used(ctx), b.startChoir(""), b.ready(ctx)); err != nil {
			return fmt.Errorf("before the fault: %w", err)
		}
		file := filepath.Join(b.dir, "out.choir")
		cmd := exec.CommandContext(ctx, b.choir, "export", file, "--data", b.data)
		cmd.Env = append(os.Environ(), "CHOIR_FAULT=kill "+p.name+" 1")
		killed, err := start(cmd)
		if err != nil {
			return err
		}
		if <-killed.done; !killed.killed() {
			return fmt.Errorf("the point was never passed: %w: %s", killed.err, killed.said.String())
		}
		if raw, err := os.ReadFile(file); err == nil {
			if err := wholeArchive(raw); err != nil {
				return fmt.Errorf("the file of an export that was killed: %w", err)
			}
		}
		if _, err := b.ask(ctx, "export", file); err != nil {
			return err
		}
		if err := exportedWhole(file); err != nil {
			return err
		}
		if err := b.finishRun(ctx); err != nil {
			return err
		}
		return b.found()
	}}
}

// exportCut cuts the power when choir export has ended: the file is there whole.
func exportCut() row {
	return row{"power cut (drop) after choir export", func(ctx context.Context, b *bench) error {
		if err := errors.Join(b.ownDisk(), b.disk.plugIn(), b.used(ctx), b.startChoir(""), b.ready(ctx)); err != nil {
			return fmt.Errorf("before the fault: %w", err)
		}
		file := filepath.Join(b.disk.at, "out.choir")
		if _, err := b.ask(ctx, "export", file); err != nil {
			return err
		}
		if err := b.powerCut("drop"); err != nil {
			return err
		}
		if err := errors.Join(exportedWhole(file), b.startChoir(""), b.finishRun(ctx)); err != nil {
			return err
		}
		return b.found(func(c *checker) { c.noGit = true })
	}}
}

func exportedWhole(file string) error {
	raw, err := os.ReadFile(file)
	if err == nil {
		err = wholeArchive(raw)
	}
	if err != nil {
		return fmt.Errorf("what choir export wrote: %w", err)
	}
	return nil
}

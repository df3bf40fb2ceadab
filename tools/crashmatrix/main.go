// Crashmatrix kills, cuts the power of and damages a choir in every way that
// docs/ARCHITECTURE.md lists, and looks whether anything that was acknowledged
// is lost, done twice or silently different.
//
//	crashmatrix run [-short] [-rows N] [-random] [-only TEXT] [-workers N]
//
// It prints one line for each row and, last, "N passed, N failed". It speaks to
// choir only through its socket and its commands, keeps what was acknowledged in
// a process of its own (crashmatrix record), and reads the data folder by
// docs/FORMAT.md with the sqlite3 shell and git: it shares no code with the
// store.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "crashmatrix:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "run":
			return run(ctx, args[1:])
		case "drive":
			return drive(ctx, args[1:])
		case "record":
			return record(ctx, args[1:])
		case "check":
			return checkFolder(args[1:])
		}
	}
	return errors.New("usage: crashmatrix run|drive|record|check")
}

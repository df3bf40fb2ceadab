package main

import (
	"flag"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitFlags adds flags for resource limits, and returns the function that applies them to this
// process and so to every process in the sandbox, which cannot raise them. 0 leaves a limit
// unchanged. Core files are always disabled, because they would expose memory.
func limitFlags(flags *flag.FlagSet) (apply func() error) {
	files := flags.Uint64("max-files", 0, "open files of a process")
	processes := flags.Uint64("max-processes", 0, "processes and threads, where no cgroup counts them")
	data := flags.Uint64("max-data", 0, "bytes of memory of a process, where no cgroup counts them")
	return func() error {
		for _, l := range []struct {
			what  int
			n     uint64
			unset bool
		}{
			{unix.RLIMIT_CORE, 0, false},
			{unix.RLIMIT_NOFILE, *files, *files == 0},
			{unix.RLIMIT_NPROC, *processes, *processes == 0},
			{unix.RLIMIT_DATA, *data, *data == 0},
		} {
			if l.unset {
				continue
			}
			if err := lower(l.what, l.n); err != nil {
				return fmt.Errorf("limit %d to %d: %w", l.what, l.n, err)
			}
		}
		return nil
	}
}

// lower sets a resource limit to n, or leaves it if it is lower, so that it cannot be raised again.
// It uses package syscall so that the runtime does not restore its own limit of open files in
// child processes.
func lower(what int, n uint64) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(what, &now); err != nil {
		return err
	}
	n = min(n, now.Max)
	return syscall.Setrlimit(what, &syscall.Rlimit{Cur: n, Max: n})
}

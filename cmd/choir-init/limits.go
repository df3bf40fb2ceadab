package main

import (
	"flag"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitFlags adds the flags by which a driver has init limit itself, and with
// it every process inside: nobody there may raise a limit again. 0 leaves a
// limit as it is. Core files, which would show memory to whoever reads the
// folder, are never written.
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

// lower sets a limit that cannot be raised again; one that is lower stays. The
// call of package syscall is needed for open files: it tells the runtime not to
// put its own idea of that limit back when it starts a process.
func lower(what int, n uint64) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(what, &now); err != nil {
		return err
	}
	n = min(n, now.Max)
	return syscall.Setrlimit(what, &syscall.Rlimit{Cur: n, Max: n})
}

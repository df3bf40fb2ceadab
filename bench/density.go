package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"choiros/internal/choir"
)

// benchDensity measures the memory of each further computer of one choir, idle and
// hibernated: the proportional set size (PSS) of the control plane and of all processes that
// began after it, less that with one computer, by the number of the others. Beside it stands the
// same of two bare sandboxes in which a program waits. The other rungs follow.
func benchDensity(ctx context.Context, l *lab, emit func(Row)) error {
	if err := l.benchLocalDensity(ctx, emit); err != nil {
		return err
	}
	return l.benchRungs(ctx, l.benchRungDensity, emit)
}

func (l *lab) benchLocalDensity(ctx context.Context, emit func(Row)) error {
	sizes := []int{10, 50, 100}
	if l.quick {
		sizes = []int{3}
	}
	idle := make([]Row, len(sizes))
	for i, n := range sizes {
		idle[i] = Row{Case: idleCase(n), Unit: "MB", Peer: "two bare bwrap with cat", Isolated: true}
	}
	most := sizes[len(sizes)-1]
	if why := l.cannotIsolate(ctx); why != "" {
		emitSkipped(idle, why, emit)
		emit(Row{Case: hibernatedCase(most), Unit: "MB", Isolated: true, Skipped: why})
		return nil
	}
	data, err := l.folder()
	if err != nil {
		return err
	}
	oneHibernated, err := l.measureHibernated(ctx, data)
	if err != nil {
		return err
	}
	if err := l.measureIdle(ctx, data, "", holdBare, idle, sizes, emit); err != nil {
		return err
	}
	all, err := l.measureHibernated(ctx, data)
	if err != nil {
		return err
	}
	r := Row{Case: hibernatedCase(most), Unit: "MB", Isolated: true}
	r.numbers(samples{(all - oneHibernated) / float64(most-1)}, nil, false)
	emit(r)
	return nil
}

func idleCase(n int) string       { return fmt.Sprintf("each of %d computers, idle", n) }
func hibernatedCase(n int) string { return fmt.Sprintf("each of %d computers, hibernated", n) }

// measureIdle emits a row for each number of computers of a choir with the top-level settings top.
// hold starts one of the two bare sandboxes beside each.
func (l *lab) measureIdle(ctx context.Context, data, top string, hold holder, rows []Row, sizes []int, emit func(Row)) error {
	before, err := findProcesses()
	if err != nil {
		return err
	}
	pair, err := measureBarePairs(ctx, before, hold, min(sizes[0], mostPairs))
	if err != nil {
		return err
	}
	s, err := serveChoir(ctx, data, top, staysAwake)
	if err != nil {
		return err
	}
	defer s.close()
	measure := func(n int) (float64, error) {
		if err := s.fork(ctx, n); err != nil {
			return 0, err
		}
		list, err := s.computers(ctx)
		for i := 0; i < len(list) && err == nil; i++ {
			err = s.wake(ctx, list[i].ID)
		}
		if err == nil {
			_, err = s.await(ctx, "idle", idles)
		}
		if err != nil {
			return 0, err
		}
		return l.settledMemory(ctx, before)
	}
	one, err := measure(1)
	if err != nil {
		return err
	}
	for i, n := range sizes {
		all, err := measure(n)
		if err != nil {
			return err
		}
		rows[i].numbers(samples{(all - one) / float64(n-1)}, samples{pair}, false)
		emit(rows[i])
	}
	return nil
}

// measureHibernated opens all computers of a data folder, waits until they hibernate and
// returns the memory of their choir in MB.
func (l *lab) measureHibernated(ctx context.Context, data string) (float64, error) {
	before, err := findProcesses()
	if err != nil {
		return 0, err
	}
	s, err := serveChoir(ctx, data, "", hibernatesSoon)
	if err != nil {
		return 0, err
	}
	defer s.close()
	list, err := s.computers(ctx)
	for i := 0; i < len(list) && err == nil; i++ {
		err = s.wake(ctx, list[i].ID)
	}
	if err == nil {
		_, err = s.await(ctx, "hibernated", hibernates)
	}
	if err != nil {
		return 0, err
	}
	return l.settledMemory(ctx, before)
}

// mostPairs is how many pairs of bare sandboxes are measured at most.
const mostPairs = 10

// measureBarePairs returns the memory of each of n pairs of bare sandboxes in MB.
func measureBarePairs(ctx context.Context, before processes, hold holder, n int) (float64, error) {
	for range 2 * n {
		end, err := hold(ctx)
		if err != nil {
			return 0, err
		}
		defer end()
	}
	if err := awaitSettling(ctx); err != nil {
		return 0, err
	}
	mb, err := memorySince(before)
	return mb / float64(n), err
}

// holdBare starts a bare bubblewrap sandbox in which cat waits.
func holdBare(ctx context.Context) (func(), error) {
	argv := append(bareArgs[:len(bareArgs)-1:len(bareArgs)-1], "--die-with-parent", "--", "/bin/cat")
	return holdCat(exec.CommandContext(ctx, argv[0], argv[1:]...))
}

// holdCat starts a command that runs cat, waits until cat answers, and returns the function that ends
// it by the end of its input.
func holdCat(c *exec.Cmd) (func(), error) {
	const op = "bench.density"
	in, err := c.StdinPipe()
	if err != nil {
		return nil, choir.Wrap(op, choir.CodeUnavailable, err, "make the input of a bare sandbox")
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return nil, choir.Wrap(op, choir.CodeUnavailable, err, "start a bare sandbox")
	}
	end := func() {
		_ = in.Close() // cat ends
		_ = c.Wait()   // its exit code is of no interest
	}
	_, err = io.WriteString(in, "choir\n")
	if err == nil {
		_, err = io.ReadFull(out, make([]byte, len("choir\n")))
	}
	if err != nil {
		end()
		return nil, choir.Wrap(op, choir.CodeUnavailable, err, "wait for a bare sandbox")
	}
	return end, nil
}

// settling is the time in which processes that have just started come to rest.
const settling = 2 * time.Second

// awaitSettling returns after the time settling, or with the error of ctx when that ends.
func awaitSettling(ctx context.Context) error {
	timer := time.NewTimer(settling)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// settledMemory returns the memory of the processes that were not there before, in MB, once it has not
// grown or shrunk by more than one percent within the time settling, or after a minute.
func (l *lab) settledMemory(ctx context.Context, before processes) (float64, error) {
	last, err := memorySince(before)
	for range l.count(30) {
		if err := errors.Join(err, awaitSettling(ctx)); err != nil {
			return 0, err
		}
		now, err := memorySince(before)
		if err != nil {
			return 0, err
		}
		if now > last*0.99 && now < last*1.01 {
			return now, nil
		}
		last = now
	}
	return last, nil
}

// processes are the processes of a machine at one time, by number, with the time each began, in clock
// ticks after the machine's start.
type processes map[int]string

// findProcesses returns the processes that there are.
func findProcesses() (processes, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	found := processes{}
	for _, stat := range stats {
		raw, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended
		}
		// The name, in brackets, may have spaces. The time is field 22, see proc_pid_stat(5).
		const beganField = 22 - 3
		fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if err != nil || len(fields) <= beganField {
			return nil, choir.E("bench.density", choir.CodeInternal, "%s cannot be read", stat)
		}
		found[pid] = fields[beganField]
	}
	return found, nil
}

// memorySince returns the sum of the proportional set sizes of the processes that were not there before,
// in MB (1,000,000 bytes): containers and virtual machines are not all below the process that asked for
// them. A process that ends meanwhile counts nothing.
func memorySince(before processes) (float64, error) {
	now, err := findProcesses()
	if err != nil {
		return 0, err
	}
	var kb int
	for pid, began := range now {
		if before[pid] == began {
			continue
		}
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(raw)) {
			if size, ok := strings.CutPrefix(line, "Pss:"); ok {
				n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(size), " kB"))
				if err != nil {
					return 0, choir.Wrap("bench.density", choir.CodeInternal, err, "read the memory of process %d", pid)
				}
				kb += n
			}
		}
	}
	if kb == 0 {
		return 0, choir.E("bench.density", choir.CodeUnavailable, "the memory of what was started cannot be read")
	}
	return float64(kb) * 1024 / 1e6, nil
}

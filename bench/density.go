package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"choiros/internal/choir"
)

// benchDensity measures the memory of each further computer of one choir, idle and
// hibernated: the proportional set size (PSS) of the control plane and of all processes
// below it, less that with one computer, by the number of the others. Beside it stands the
// same of two bare bubblewrap sandboxes in which a program waits.
func benchDensity(ctx context.Context, l *lab, emit func(Row)) (err error) {
	sizes := []int{10, 50, 100}
	if l.quick {
		sizes = []int{3}
	}
	most := sizes[len(sizes)-1]
	if why := l.cannotIsolate(ctx); why != "" {
		for _, n := range sizes {
			emit(Row{Case: idleCase(n), Unit: "MB", Peer: barePair, Isolated: true, Skipped: why})
		}
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
	if err := l.measureIdle(ctx, data, sizes, emit); err != nil {
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

const barePair = "two bare bwrap with sleep"

func idleCase(n int) string       { return fmt.Sprintf("each of %d computers, idle", n) }
func hibernatedCase(n int) string { return fmt.Sprintf("each of %d computers, hibernated", n) }

// measureIdle emits a row for each number of computers.
func (l *lab) measureIdle(ctx context.Context, data string, sizes []int, emit func(Row)) error {
	s, err := serveChoir(ctx, data, "hibernate_after = '0'\nfreeze_after = '0'")
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
		return l.settledMemory(ctx, s.cmd.Process.Pid)
	}
	one, err := measure(1)
	if err != nil {
		return err
	}
	pair, err := measureBarePairs(ctx, sizes[0])
	if err != nil {
		return err
	}
	for _, n := range sizes {
		all, err := measure(n)
		if err != nil {
			return err
		}
		r := Row{Case: idleCase(n), Unit: "MB", Peer: barePair, Isolated: true}
		r.numbers(samples{(all - one) / float64(n-1)}, samples{pair}, false)
		emit(r)
	}
	return nil
}

// measureHibernated opens all computers of a data folder, waits until they hibernate and
// returns the memory of their choir in MB.
func (l *lab) measureHibernated(ctx context.Context, data string) (float64, error) {
	s, err := serveChoir(ctx, data, "hibernate_after = '1s'\nready = 0")
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
	return l.settledMemory(ctx, s.cmd.Process.Pid)
}

// measureBarePairs returns the memory of each of n pairs of bare sandboxes in MB.
func measureBarePairs(ctx context.Context, n int) (float64, error) {
	ctx, cancel := context.WithCancel(ctx)
	var started []*exec.Cmd
	defer func() {
		cancel()
		for _, c := range started {
			_ = c.Wait() // it was killed
		}
	}()
	argv := append(bareArgs[:len(bareArgs)-1:len(bareArgs)-1], "--die-with-parent", "--", "sleep", "infinity")
	var sum float64
	for range 2 * n {
		c := exec.CommandContext(ctx, argv[0], argv[1:]...)
		if err := c.Start(); err != nil {
			return 0, choir.Wrap("bench.density", choir.CodeUnavailable, err, "start a bare sandbox")
		}
		started = append(started, c)
	}
	if err := awaitSettling(ctx); err != nil {
		return 0, err
	}
	for _, c := range started {
		mb, err := memoryBelow(c.Process.Pid)
		if err != nil {
			return 0, err
		}
		sum += mb
	}
	return sum / float64(n), nil
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

// settledMemory returns the memory of a process and all below it, in MB, once it has not
// grown or shrunk by more than one percent within the time settling, or after a minute.
func (l *lab) settledMemory(ctx context.Context, pid int) (float64, error) {
	last, err := memoryBelow(pid)
	for range l.count(30) {
		if err := errors.Join(err, awaitSettling(ctx)); err != nil {
			return 0, err
		}
		now, err := memoryBelow(pid)
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

// memoryBelow returns the sum of the proportional set sizes of a process and all below it,
// in MB (1,000,000 bytes). A process that ends meanwhile counts nothing.
func memoryBelow(pid int) (float64, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	children := map[int][]int{}
	for _, stat := range stats {
		raw, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended
		}
		// The name, in brackets, may have spaces.
		fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		child, err1 := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		parent, err2 := strconv.Atoi(fields[1])
		if err := errors.Join(err1, err2); err != nil {
			return 0, choir.Wrap("bench.density", choir.CodeInternal, err, "read %s", stat)
		}
		children[parent] = append(children[parent], child)
	}
	var kb int
	for todo := []int{pid}; len(todo) > 0; todo = todo[1:] {
		todo = append(todo, children[todo[0]]...)
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", todo[0]))
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(raw)) {
			if size, ok := strings.CutPrefix(line, "Pss:"); ok {
				n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(size), " kB"))
				if err != nil {
					return 0, choir.Wrap("bench.density", choir.CodeInternal, err, "read the memory of process %d", todo[0])
				}
				kb += n
			}
		}
	}
	if kb == 0 {
		return 0, choir.E("bench.density", choir.CodeUnavailable, "the memory of process %d cannot be read", pid)
	}
	return float64(kb) * 1024 / 1e6, nil
}

package proctree

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// clearLimit is how long clear keeps killing before it gives up, which only a process
// stuck in the kernel makes necessary.
const clearLimit = 10 * time.Second

// clear ends every descendant process: it sends SIGTERM, waits for grace, then sends
// SIGKILL repeatedly. It reports whether none is left.
func (s *server) clear(grace time.Duration) bool {
	if s.reap() {
		return true
	}
	signalAll(syscall.SIGTERM)
	if s.emptyWithin(grace) {
		return true
	}
	for end := time.Now().Add(clearLimit); time.Now().Before(end); {
		// Stopped processes cannot fork, so a fork bomb cannot outrun the kill.
		for n := -1; ; {
			was := n
			if n = signalAll(syscall.SIGSTOP); n <= was {
				break
			}
		}
		signalAll(syscall.SIGKILL)
		if s.emptyWithin(20 * time.Millisecond) {
			return true
		}
	}
	return false
}

// emptyWithin waits up to d for all children to end and reports whether none is left.
func (s *server) emptyWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		if s.reap() {
			return true
		}
		// reap itself leaves a token; a second one is a child that ended since.
		select {
		case <-s.reaped:
		default:
		}
		select {
		case <-s.reaped:
		case <-timer.C:
			return s.reap()
		}
	}
}

// signalAll sends sig to every descendant of this process and returns their number.
func signalAll(sig syscall.Signal) int {
	pids := descendants(os.Getpid())
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig) // it may have ended since
	}
	return len(pids)
}

// descendants returns the pids of all descendants of a process, from /proc.
func descendants(root int) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what could be read is used
	children := map[int][]int{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if parent := parentOf(name); parent > 0 {
			children[parent] = append(children[parent], pid)
		}
	}
	var found []int
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		found = append(found, children[queue[0]]...)
		queue = append(queue, children[queue[0]]...)
	}
	return found
}

// parentOf returns the parent of a process from /proc, 0 if it is a zombie or gone.
func parentOf(pid string) int {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 || fields[0][0] == 'Z' {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1])) // the kernel writes a number
	return parent
}

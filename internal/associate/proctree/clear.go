package proctree

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// clearLimit bounds how long clear tries; only a process stuck in the kernel
// takes longer.
const clearLimit = 10 * time.Second

// clear ends every descendant: SIGTERM, some grace, then SIGKILL until none is
// left. It reports whether none is.
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

// emptyWithin waits for the last child to be reaped.
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

// signalAll signals every descendant and returns how many there were.
func signalAll(sig syscall.Signal) int {
	pids := descendants(os.Getpid())
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig) // it may have ended since
	}
	return len(pids)
}

// descendants of a process, by the parents that /proc names.
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

// parentOf reads the fourth field of stat; the second, the name in brackets,
// may hold anything.
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

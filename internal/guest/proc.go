package guest

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// process is one process as /proc shows it.
type process struct {
	pid, parent int
	state       byte   // Z is a zombie
	born        uint64 // clock ticks since boot; tells reused pids apart
}

// processes returns the processes in this pid namespace. A process that ends meanwhile
// may be left out.
func processes() ([]process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var all []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok {
			all = append(all, p)
		}
	}
	return all, nil
}

// readProcess reads /proc/PID/stat (proc_pid_stat(5)); ok is false if the process is
// gone. The process name may contain anything, so the fields are counted from the last
// bracket.
func readProcess(pid int) (process, bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	_, rest, ok := bytes.Cut(raw[bytes.LastIndexByte(raw, ')')+1:], []byte(" "))
	fields := bytes.Fields(rest)
	if !ok || len(fields) < 20 {
		return process{}, false
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	born, _ := strconv.ParseUint(string(fields[19]), 10, 64)
	return process{pid: pid, parent: parent, state: fields[0][0], born: born}, true
}

// descendants returns the processes below root in all, without root itself and without
// zombies.
func descendants(root int, all []process) []process {
	children := map[int][]process{}
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	var found []process
	next := []int{root}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for _, p := range children[at] {
			next = append(next, p.pid)
			if p.state != 'Z' {
				found = append(found, p)
			}
		}
	}
	return found
}

// killBelow kills all descendants of root and returns their number. It stops them all
// first, because the children of a killed process get another parent, where they would
// not be found, and a forking process could outrun the kill.
func killBelow(root int) (int, error) {
	stopped := map[int]process{}
	for {
		all, err := processes()
		if err != nil {
			return 0, err
		}
		fresh := 0
		for _, p := range descendants(root, all) {
			if old, ok := stopped[p.pid]; ok && old.born == p.born {
				continue
			}
			stopped[p.pid] = p
			fresh++
			syscall.Kill(p.pid, syscall.SIGSTOP) // it may be gone; then it is not found again
		}
		if fresh == 0 {
			break
		}
	}
	for _, p := range stopped {
		syscall.Kill(p.pid, syscall.SIGKILL)
	}
	return len(stopped), nil
}

// killTree kills a process, its process group and all its descendants.
func killTree(pid int) {
	syscall.Kill(pid, syscall.SIGSTOP)
	killBelow(pid) // without /proc the group is all that can be reached
	syscall.Kill(-pid, syscall.SIGKILL)
	syscall.Kill(pid, syscall.SIGKILL)
}

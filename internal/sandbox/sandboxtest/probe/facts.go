package main

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"choiros/internal/sandbox/sandboxtest/probed"
)

func facts() (probed.Facts, error) {
	f := probed.Facts{UID: os.Getuid(), GID: os.Getgid(), Environ: os.Environ(), Status: map[string]string{}}
	var err error
	if f.Groups, err = os.Getgroups(); err != nil {
		return f, err
	}
	if f.Hostname, err = os.Hostname(); err != nil {
		return f, err
	}
	if f.Cwd, err = os.Getwd(); err != nil {
		return f, err
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		return f, err
	}
	for _, i := range interfaces {
		f.Interfaces = append(f.Interfaces, i.Name)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return f, err
	}
	for line := range strings.Lines(string(status)) {
		key, value, _ := strings.Cut(line, ":")
		f.Status[key] = strings.TrimSpace(value)
	}
	f.Processes, err = processes()
	return f, err
}

// processes returns the command lines of all visible processes by pid.
func processes() (map[int]string, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	out := map[int]string{}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline") // it may have ended
			out[pid] = strings.ReplaceAll(string(line), "\x00", " ")
		}
	}
	return out, nil
}

// devices returns what each entry of /dev is, by its path, without the terminals in use and what
// lies in shared memory.
func devices() (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir("/dev", func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == "/dev" {
			return err
		}
		_, terminal := strconv.Atoi(e.Name())
		if dir := filepath.Dir(path); dir == "/dev/shm" || dir == "/dev/pts" && terminal == nil {
			return nil
		}
		out[path], err = kindOf(path)
		return err
	})
	return out, err
}

func kindOf(path string) (string, error) {
	var s unix.Stat_t
	if err := unix.Lstat(path, &s); err != nil {
		return "", err
	}
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return "folder", nil
	case unix.S_IFLNK:
		to, err := os.Readlink(path)
		return "link " + to, err
	case unix.S_IFCHR:
		return fmt.Sprintf("device %d:%d", unix.Major(s.Rdev), unix.Minor(s.Rdev)), nil
	}
	return fmt.Sprintf("file of mode %o", s.Mode), nil
}

package main

import (
	"net"
	"os"
	"strconv"
	"strings"

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

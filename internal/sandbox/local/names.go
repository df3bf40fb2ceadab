package local

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"choiros/internal/sandbox/host"

	"golang.org/x/sys/unix"
)

// portsFile is the setting of a network namespace from which port on programs without privilege
// may listen. In a sandbox's own it is opened for the ports of virtual hosts and of DNS.
const portsFile = "/proc/sys/net/ipv4/ip_unprivileged_port_start"

// openPorts lets programs of a sandbox listen at every port of its loopback. It is best effort:
// where it fails, programs that do not know the proxy reach nothing, as without it.
func openPorts(pid int) error {
	return host.OnOwnThread(func() error {
		f, err := os.Open(networkOf(pid))
		if err != nil {
			return err
		}
		defer f.Close()
		if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
			return os.NewSyscallError("setns", err)
		}
		return os.WriteFile(portsFile, []byte("0"), 0)
	})
}

// networkOf returns the file that stands for the network of a process.
func networkOf(pid int) string { return filepath.Join("/proc", strconv.Itoa(pid), "ns/net") }

// setUpPatience bounds the time for which bubblewrap is waited for until it has made the users of
// a sandbox.
const setUpPatience = 5 * time.Second

// openPortsEarly does it for an ordinary user, while bubblewrap holds the sandbox back: of
// choir-init, whose file nobody may read, that user cannot open the network.
func openPortsEarly(ctx context.Context, bubblewrap int, info *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, setUpPatience)
	defer cancel()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		pid, err := childPID(info)
		// As long as no user is mapped a program that enters has no rights.
		if users, mapErr := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "uid_map")); err == nil && mapErr == nil && len(users) > 0 {
			return openPortsAsOwner(networkOf(pid))
		}
		if s, err := host.ReadStat(bubblewrap); err != nil || s.State == 'Z' {
			return errors.New("bubblewrap has ended")
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// openPortsAsOwner does it for an ordinary user, who has made the user namespace that the network
// belongs to. A process with threads cannot enter that, so nsenter does.
func openPortsAsOwner(ns string) error {
	network, err := os.Open(ns)
	if err != nil {
		return err
	}
	defer network.Close()
	owner, err := unix.IoctlRetInt(int(network.Fd()), unix.NS_GET_USERNS)
	if err != nil {
		return os.NewSyscallError("ioctl", err)
	}
	users := os.NewFile(uintptr(owner), "user namespace")
	defer users.Close()
	cmd := exec.Command("nsenter", "--user=/proc/self/fd/3", "--net=/proc/self/fd/4", "--preserve-credentials", "--", "sh", "-c", "echo 0 > "+portsFile)
	cmd.ExtraFiles, cmd.Env = []*os.File{users, network}, []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	return cmd.Run()
}

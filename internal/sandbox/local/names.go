package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"choiros/internal/sandbox/host"

	"golang.org/x/sys/unix"
)

// portsFile is the setting of a network namespace from which port on programs without privilege
// may listen. In a sandbox's own it is opened for the ports of virtual hosts and of DNS.
const portsFile = "/proc/sys/net/ipv4/ip_unprivileged_port_start"

// openPorts lets programs of a sandbox listen at every port of its loopback. It is best effort:
// where it fails, programs that do not know the proxy reach nothing, as without it.
func (m *machine) openPorts(pid int) error {
	ns := filepath.Join("/proc", strconv.Itoa(pid), "ns/net")
	if !m.root {
		return openPortsAsOwner(ns)
	}
	return host.OnOwnThread(func() error {
		f, err := os.Open(ns)
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

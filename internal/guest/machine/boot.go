// Package machine is what choir-init does as the first process of a virtual machine: it
// makes the sandbox in which choir-init then runs as on every other rung, carries the
// one stream of the control door to it, and turns the machine off when it ends.
//
// The driver (internal/sandbox/microvm) made the initial file system. It has choir-init
// as Init, the Modules in the order of their names, Filter, and Guest unless the image has
// the same guest binaries.
package machine

import (
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Paths in the initial file system.
const (
	Init    = "/init"
	Guest   = "/guest"   // folder of the guest binaries
	Modules = "/modules" // folder of kernel modules
	Filter  = "/filter"  // the seccomp program
)

// BootArg and ConfineArg are the first argument of choir-init as the first process of the
// machine, and as the process that becomes choir-init of the sandbox.
const (
	BootArg    = "machine"
	ConfineArg = "confine"
)

// The names of the serial ports, and of the group of everything in the sandbox.
const (
	DataPort  = "choir.data"
	StatePort = "choir.state"
	group     = "/groups/sandbox"
)

const (
	newRoot = "/new"
	control = "/control.sock"
	door    = 3 // the descriptor on which choir-init expects the control door
)

// Config describes the sandbox that the driver wants. It comes on the kernel's command line.
type Config struct {
	Processes int64
	Memory    int64 // bytes
	CPUMilli  int64
	Workspace bool  // the second disk is one
	Tmp       int64 // bytes of a folder in memory
	Files     int64 // and files
	Vsock     bool  // the machine has a vsock in place of serial ports
	// Args are those of choir-init in the sandbox.
	Args []string
}

// argsFollow stands before Config.Args. It is no "--", at which the kernel ends the
// arguments of the first process.
const argsFollow = "init"

// Flags returns the command line of a Config behind BootArg.
func (c Config) Flags() []string {
	out := []string{BootArg, fmt.Sprintf("-processes=%d", c.Processes), fmt.Sprintf("-memory=%d", c.Memory),
		fmt.Sprintf("-cpu=%d", c.CPUMilli), fmt.Sprintf("-tmp=%d", c.Tmp), fmt.Sprintf("-files=%d", c.Files), fmt.Sprintf("-disk=%v", c.Workspace)}
	if c.Vsock {
		out = append(out, "-vsock")
	}
	return append(append(out, argsFollow), c.Args...)
}

// Parse returns the Config of a command line behind BootArg.
func Parse(args []string) (Config, error) {
	var c Config
	f := flag.NewFlagSet(BootArg, flag.ContinueOnError)
	f.Int64Var(&c.Processes, "processes", 0, "")
	f.Int64Var(&c.Memory, "memory", 0, "")
	f.Int64Var(&c.CPUMilli, "cpu", 0, "")
	f.Int64Var(&c.Tmp, "tmp", 0, "")
	f.Int64Var(&c.Files, "files", 0, "")
	f.BoolVar(&c.Workspace, "disk", false, "")
	f.BoolVar(&c.Vsock, "vsock", false, "")
	err := f.Parse(args)
	if rest := f.Args(); len(rest) > 0 && rest[0] == argsFollow {
		c.Args = rest[1:]
	}
	return c, err
}

// Run boots the sandbox, serves it until choir-init has ended, and turns the machine off.
// It does not return.
func Run(args []string) {
	err := run(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "choir-init: the machine:", err)
	}
	unix.Sync()
	// Without power management this is a fault that the virtual machine ends at.
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART)
	os.Exit(1) // the kernel panics, and the machine ends at that
}

func run(args []string) error {
	c, err := Parse(args)
	if err != nil {
		return err
	}
	for _, step := range []func(Config) error{mountKernel, loadModules, tighten, makeRoot, makeGroup, raiseLoopback} {
		if err := step(c); err != nil {
			return err
		}
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: control, Net: "unix"})
	if err != nil {
		return err
	}
	process, err := start(c, listener)
	listener.Close()
	if err != nil {
		return err
	}
	if err := openWay(c); err != nil {
		return err
	}
	how, err := process.Wait()
	if err == nil {
		io.WriteString(os.Stderr, "choir-init: the sandbox has ended: "+how.String()+"\n")
	}
	return err
}

// openWay opens the machine's way to the host, and carries what comes by it for as long as
// the machine runs.
func openWay(c Config) error {
	if c.Vsock {
		return openVsock()
	}
	ports, err := openPorts()
	if err == nil {
		go newRelay(ports.data).serve(ports.state)
	}
	return err
}

// start starts the process that becomes choir-init, first in a pid namespace and in the
// sandbox's group.
func start(c Config, listener *net.UnixListener) (*os.Process, error) {
	listener.SetUnlinkOnClose(false)
	f, err := listener.File()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dir, err := os.Open(group)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	null, err := os.Open("/dev/null")
	if err != nil {
		return nil, err
	}
	defer null.Close()
	return os.StartProcess(Init, append([]string{Init, ConfineArg}, c.Args...), &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{null, os.Stderr, os.Stderr, f},
		Sys: &syscall.SysProcAttr{
			Setsid:      true,
			Cloneflags:  unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWCGROUP,
			UseCgroupFD: true, CgroupFD: int(dir.Fd()),
		},
	})
}

// loadModules loads the kernel's modules, which come with those they need before them. A
// machine without a vsock gets none of those for it.
func loadModules(c Config) error {
	entries, err := os.ReadDir(Modules)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !c.Vsock && strings.Contains(e.Name(), "vsock") {
			continue
		}
		f, err := os.Open(Modules + "/" + e.Name())
		if err != nil {
			return err
		}
		err = unix.FinitModule(int(f.Fd()), "", 0)
		f.Close()
		if err != nil && err != unix.EEXIST {
			return fmt.Errorf("load the module %s: %w", e.Name(), err)
		}
	}
	return nil
}

// tighten closes what an unprivileged program could try of the kernel.
func tighten(Config) error {
	for path, value := range map[string]string{
		"kernel/dmesg_restrict": "1", "kernel/kptr_restrict": "2", "kernel/unprivileged_bpf_disabled": "1",
		"kernel/perf_event_paranoid": "3", "user/max_user_namespaces": "0", "kernel/modules_disabled": "1",
		"kernel/kexec_load_disabled": "1", "fs/suid_dumpable": "0", "kernel/pid_max": "4194304",
	} {
		err := os.WriteFile("/proc/sys/"+path, []byte(value), 0)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return unix.Sethostname([]byte("choir"))
}

func raiseLoopback(Config) error { return RaiseLoopback() }

// RaiseLoopback makes the only network of a sandbox, loopback, work, and lets programs listen at
// every port of it: init answers questions for names at one, and stands for hosts at others.
func RaiseLoopback() error {
	// Best effort: where it fails, programs that do not know the proxy reach nothing, as without it.
	_ = os.WriteFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", []byte("0"), 0)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r)
}

// makeGroup makes the control group that limits everything in the sandbox.
func makeGroup(c Config) error {
	if err := mount("cgroup2", "/groups", "cgroup2", 0, ""); err != nil {
		return err
	}
	if err := os.WriteFile("/groups/cgroup.subtree_control", []byte("+memory +pids +cpu"), 0); err != nil {
		return err
	}
	if err := os.Mkdir(group, 0o755); err != nil {
		return err
	}
	const period = 100_000
	for name, value := range map[string]string{
		"pids.max": fmt.Sprint(c.Processes), "memory.max": fmt.Sprint(c.Memory),
		"cpu.max": fmt.Sprintf("%d %d", c.CPUMilli*period/1000, period),
	} {
		if err := os.WriteFile(group+"/"+name, []byte(value), 0); err != nil {
			return err
		}
	}
	return nil
}

// usage returns the processes, the bytes of memory and the microseconds of CPU time of
// everything in the sandbox.
func usage() string {
	var out []string
	for _, name := range []string{"pids.current", "memory.current"} {
		text, _ := os.ReadFile(group + "/" + name) // it stays empty, which the driver refuses
		out = append(out, strings.TrimSpace(string(text)))
	}
	stat, _ := os.ReadFile(group + "/cpu.stat")
	first, _, _ := strings.Cut(string(stat), "\n")
	return strings.Join(append(out, strings.TrimPrefix(first, "usage_usec ")), " ")
}

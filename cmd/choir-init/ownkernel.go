package main

import (
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// lastCapability is the last number that a capability can have in its 64 bits.
const lastCapability = 63

// pidsMax is the limit of the sandbox's cgroup in a kernel of its own, which has version 1.
const pidsMax = "/sys/fs/cgroup/pids/pids.max"

// neededByNobody are entries of /dev that the sentry adds to the devices of every sandbox: its own FUSE
// and tunnels, with which a program inside could only reach more of the sentry's code.
var neededByNobody = []string{"/dev/fuse", "/dev/net", "/dev/char"}

// rootFlags adds flags for a sandbox with a kernel of its own, where init begins as root, and
// returns a function. It limits the number of processes by that kernel's cgroups, covers them, removes
// devices that nobody needs, makes this process the user of everything inside, in the folder of the workspace and without a way
// back, and puts a seccomp program in force; without the first flag it does the last alone.
func rootFlags(flags *flag.FlagSet) (leaveRoot func(workspace string) error) {
	most := flags.Uint64("cgroup-processes", 0, "processes and threads that the cgroups of a kernel of the sandbox's own are to allow; init begins as root then")
	filter := flags.String("seccomp", "", "seccomp program to load, in base64")
	return func(workspace string) error {
		if *most == 0 {
			return loadFilter(*filter)
		}
		if err := os.WriteFile(pidsMax, []byte(strconv.FormatUint(*most, 10)), 0); err != nil {
			return fmt.Errorf("limit processes: %w", err)
		}
		if err := unix.Mount("none", "/sys", "tmpfs", unix.MS_RDONLY, "mode=0555,size=4096"); err != nil {
			return fmt.Errorf("cover the cgroups: %w", err)
		}
		for _, device := range neededByNobody {
			if err := os.RemoveAll(device); err != nil {
				return fmt.Errorf("remove a device: %w", err)
			}
		}
		if err := becomeUser(); err != nil {
			return fmt.Errorf("give up root: %w", err)
		}
		if workspace == "" {
			workspace = guest.Home
		}
		if err := os.Chdir(workspace); err != nil {
			return err
		}
		return loadFilter(*filter)
	}
}

// loadFilter puts a seccomp program in force for every thread of this process; none for "".
func loadFilter(encoded string) error {
	program, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(program) == 0 {
		return err
	}
	fprog := unix.SockFprog{Len: uint16(len(program) / int(unsafe.Sizeof(unix.SockFilter{}))), Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0]))}
	if _, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog))); errno != 0 {
		return fmt.Errorf("load the seccomp program: %w", errno)
	}
	return nil
}

// becomeUser makes every thread of this process the user inside, without capabilities or a way to
// get any.
func becomeUser() error {
	for c := range uintptr(lastCapability + 1) {
		// To ask is cheap, and to stop all threads for each one that is not there is not.
		has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0)
		if err == unix.EINVAL {
			break // there are no more
		}
		if err != nil {
			return err
		}
		if has == 0 {
			continue
		}
		if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0); errno != 0 {
			return errno
		}
	}
	if groups, err := syscall.Getgroups(); err != nil || len(groups) > 0 { // as above
		if err := syscall.Setgroups(nil); err != nil {
			return err
		}
	}
	if err := syscall.Setresgid(sandbox.InsideGID, sandbox.InsideGID, sandbox.InsideGID); err != nil {
		return err
	}
	if err := syscall.Setresuid(sandbox.InsideUID, sandbox.InsideUID, sandbox.InsideUID); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

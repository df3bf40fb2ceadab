package machine

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hiddenInProc are files of /proc that say something of the machine, and are empty inside.
var hiddenInProc = []string{"cmdline", "interrupts", "diskstats", "partitions", "modules", "key-users", "keys", "kcore", "kallsyms", "iomem", "ioports"}

// Confine takes from this process, the first in its pid namespace, every right that a
// program of the sandbox does not have, and replaces it by choir-init with the arguments.
// It returns only an error.
func Confine(args []string) error {
	runtime.LockOSThread() // what follows is of this thread, which the others end with
	filter, err := os.ReadFile(Filter)
	if err != nil {
		return err
	}
	if err := enterRoot(); err != nil {
		return err
	}
	dir := "/home/choir"
	if _, err := os.Stat("/workspace"); err == nil {
		dir = "/workspace"
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	if err := dropRights(filter); err != nil {
		return err
	}
	const program = "/opt/choir/choir-init"
	return fmt.Errorf("start %s: %w", program, syscall.Exec(program, append([]string{program}, args...), []string{}))
}

// enterRoot mounts the /proc of this pid namespace in the new root folder, and makes that
// the root of this mount namespace.
func enterRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	proc := newRoot + "/proc"
	if err := mount("proc", proc, "proc", closed|unix.MS_NOEXEC, ""); err != nil {
		return err
	}
	for _, name := range hiddenInProc {
		err := unix.Mount(newRoot+"/etc/fstab", proc+"/"+name, "", unix.MS_BIND, "")
		if err != nil && err != unix.ENOENT {
			return fmt.Errorf("hide %s: %w", name, err)
		}
	}
	if err := os.Chdir(newRoot); err != nil {
		return err
	}
	// The initial file system cannot be unmounted; it is covered, and nobody inside may
	// change the root or mount.
	if err := unix.Mount(".", "/", "", unix.MS_MOVE, ""); err != nil {
		return fmt.Errorf("cover the initial file system: %w", err)
	}
	if err := unix.Chroot("."); err != nil {
		return err
	}
	return os.Chdir("/")
}

// dropRights gives up root, every capability, and with the filter the system calls that a
// sandbox does not need. It acts on this thread only.
func dropRights(filter []byte) error {
	for c := 0; ; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err == unix.EINVAL {
			break
		} else if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	for _, call := range []struct {
		number     uintptr
		a1, a2, a3 uintptr
	}{{unix.SYS_SETGROUPS, 0, 0, 0}, {unix.SYS_SETRESGID, inside, inside, inside}, {unix.SYS_SETRESUID, inside, inside, inside}} {
		if _, _, errno := syscall.RawSyscall(call.number, call.a1, call.a2, call.a3); errno != 0 {
			return fmt.Errorf("become the sandbox's user: %w", errno)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	const instruction = 8
	if len(filter) < instruction {
		return fmt.Errorf("%s has %d bytes", Filter, len(filter))
	}
	program := unix.SockFprog{Len: uint16(len(filter) / instruction), Filter: (*unix.SockFilter)(unsafe.Pointer(&filter[0]))}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return fmt.Errorf("load the filter: %w", err)
	}
	return nil
}

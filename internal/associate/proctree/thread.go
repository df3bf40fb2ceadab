package proctree

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// onCommandThread runs fn on a thread of its own, which the kernel keeps from
// signalling and tracing any process that was not started by it (landlock(7), scoped
// signals, Linux 6.12). Programs that fn starts inherit that: none can end the role
// that owns the tree, the tree process, a terminal or a dev server, though all have
// the same user. An older kernel runs fn without it. What fn does besides happens
// there too, because handing each start over to the thread would cost several switches.
func onCommandThread(fn func() error) error {
	ended := make(chan error)
	go func() { ended <- lockedThread(fn) }()
	return <-ended
}

// lockedThread runs fn on its goroutine's thread, which is never given back and ends
// with it. That is not the main thread: by the main thread's rules the kernel
// decides who may signal the process.
func lockedThread(fn func() error) error {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		defer runtime.UnlockOSThread()
		return onCommandThread(fn)
	}
	scopeSignals()
	return fn()
}

// rulesetAttr and pathBeneathAttr are the kernel's structs of the same names, the
// first since the sixth version of Landlock. The second is packed.
type (
	rulesetAttr     struct{ files, net, scoped uint64 }
	pathBeneathAttr struct {
		access uint64
		parent int32
	}
)

// scopeSignals confines the calling thread. A kernel that cannot do that refuses
// the rules.
func scopeSignals() {
	attr := rulesetAttr{files: unix.LANDLOCK_ACCESS_FS_REFER, scoped: unix.LANDLOCK_SCOPE_SIGNAL}
	fd, _, errno := syscall.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return
	}
	defer syscall.Close(int(fd))
	if allowRefer(int(fd)) != nil {
		return
	}
	// Landlock asks for it; in a sandbox it is set already.
	if unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == nil {
		_, _, _ = syscall.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0) // refused as above
	}
}

// allowRefer lets files be moved and linked between folders, which every set of rules
// forbids that does not allow it.
func allowRefer(rules int) error {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(root)
	rule := pathBeneathAttr{unix.LANDLOCK_ACCESS_FS_REFER, int32(root)}
	_, _, errno := syscall.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

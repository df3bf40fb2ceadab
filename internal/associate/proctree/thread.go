package proctree

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// onCommandThread runs fn on a thread of its own that confine has restricted, and returns
// its error. Programs that fn starts inherit the restrictions, so they cannot signal the
// role, the tree process, terminals or dev servers.
func onCommandThread(writable []string, fn func() error) error {
	ended := make(chan error)
	go func() { ended <- lockedThread(writable, fn) }()
	return <-ended
}

// lockedThread runs fn on its goroutine's thread, which ends with it. It never uses the
// main thread, because the kernel checks signals to a process by its main thread's rules.
func lockedThread(writable []string, fn func() error) error {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		defer runtime.UnlockOSThread()
		return onCommandThread(writable, fn)
	}
	if err := confine(writable); err != nil {
		return err
	}
	return fn()
}

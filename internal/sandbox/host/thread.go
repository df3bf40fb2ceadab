package host

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// OnOwnThread calls do on a thread of its own, which ends afterwards, and returns its
// error. It is never the main thread, which cannot end and represents the process in
// /proc.
func OnOwnThread(do func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // until this goroutine ends, and the thread with it
		if unix.Gettid() != unix.Getpid() {
			done <- do()
			return
		}
		done <- OnOwnThread(do) // this thread is held, so it gets another
		runtime.UnlockOSThread()
	}()
	return <-done
}

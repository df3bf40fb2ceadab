package guest

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// RunSession runs the program of a command with ExecSpec.Session and kills all its
// descendants, daemons too, when it has ended. It is the main function of a process of
// its own, which becomes a subreaper and starts the program as the leader of a new
// session on its standard input, if that is a terminal. It forwards SIGHUP and returns
// the program's exit status, with which the caller must exit.
func RunSession(path string, argv, env []string) (code int, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, choir.Wrap("guest.session", choir.CodeUnavailable, err, "become the one who adopts orphans")
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	_, err = unix.IoctlGetTermios(0, unix.TCGETS)
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env: env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true, Setctty: err == nil},
	})
	if err != nil {
		return 0, choir.Wrap("guest.session", codeOf(err), err, "start %s", clip(path, 200))
	}
	go func() { // ends with the process
		for range hangups {
			syscall.Kill(-pid, syscall.SIGHUP)
		}
	}()
	status := awaitChild(pid)
	for awaitAny(syscall.WNOHANG) >= 0 { // until there is no child: without one there is no descendant
		if _, err := killBelow(os.Getpid()); err != nil {
			return 0, err
		}
		awaitAny(0)
	}
	if status.Signaled() {
		endBy(status.Signal())
	}
	return status.ExitStatus(), nil
}

// awaitChild reaps children until pid has ended, and returns its status.
func awaitChild(pid int) (status syscall.WaitStatus) {
	for {
		if got, err := syscall.Wait4(-1, &status, 0, nil); got == pid || err != nil && err != syscall.EINTR {
			return status
		}
	}
}

// awaitAny reaps one child and returns its pid; -1 if there is none left, 0 if none has
// ended and options has WNOHANG.
func awaitAny(options int) int {
	for {
		pid, err := syscall.Wait4(-1, nil, options, nil)
		if err != syscall.EINTR {
			return pid
		}
	}
}

// endBy ends this process by the signal that ended its program.
func endBy(s syscall.Signal) {
	signal.Reset(s)
	syscall.Kill(os.Getpid(), s)
	os.Exit(128 + int(s)) // a signal that this process cannot die of
}

package host

import (
	"errors"
	"os"
	"syscall"

	"choiros/internal/inherited"
)

// guard is a process that does something when this process ends, however it does.
type guard struct {
	process *os.Process
	held    *os.File // the end of a pipe that the kernel closes with this process
}

// startGuard starts a guard: a shell whose script reads its input to the end. args are the script's
// arguments, and files its descriptors from 3 on.
func startGuard(files []*os.File, script string, args ...string) (*guard, error) {
	if err := inherited.KeepFromChildren(); err != nil {
		return nil, err
	}
	in, held, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	defer null.Close()
	p, err := os.StartProcess("/bin/sh", append([]string{"choir-guard", "-c", script, "choir-guard"}, args...), &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: append([]*os.File{in, null, null}, files...),
		Sys: &syscall.SysProcAttr{Setsid: true}, // a ^C in the control plane's terminal is not for it
	})
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return &guard{p, held}, nil
}

// kill ends the guard before it can write.
func (g *guard) kill() {
	g.process.Kill() // it may have ended
	g.process.Wait() // how it ended says nothing that matters
	g.held.Close()
}

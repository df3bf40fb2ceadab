package guest

import (
	"context"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// ReapConfig says what Reap runs.
type ReapConfig struct {
	Argv     []string
	Env      []string
	Lifeline *os.File // a pipe or socket whose end means: kill everything
}

// Reap runs a command as the root of a process tree of its own and returns how
// it ended. When it ends, when the lifeline does, or on SIGTERM and SIGINT,
// everything below is killed, daemons that left their parents and sessions too,
// and Reap returns only when nothing is left. It makes this process a subreaper
// that collects every child, so nothing else here may wait for children.
//
// The command's standard input is empty; its outputs are those of this process.
func Reap(cfg ReapConfig) (Ended, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return Ended{}, choir.Wrap("guest.reap", choir.CodeUnavailable, err, "adopt what loses its parent")
	}
	path, err := lookPath(cfg.Argv[0], cfg.Env)
	if err != nil {
		return Ended{}, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return Ended{}, choir.Wrap("guest.reap", choir.CodeInternal, err, "open an empty input")
	}
	defer null.Close()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(stop)
	cut := watchLifeline(cfg.Lifeline)
	reaper := NewReaper(true)
	ctx, cancel := context.WithCancel(context.Background())
	var served sync.WaitGroup
	served.Go(func() { reaper.Serve(ctx) })
	defer served.Wait()
	defer cancel()
	_, ended, err := reaper.Start(path, cfg.Argv, &syscall.ProcAttr{
		Env: cfg.Env, Files: []uintptr{null.Fd(), 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return Ended{}, err
	}
	var end Ended
	select {
	case end = <-ended:
		return end, reaper.killAll()
	case <-stop:
	case <-cut:
	}
	err = reaper.killAll()
	return <-ended, err
}

// watchLifeline is closed when the lifeline ends; never when there is none. Its
// goroutine lives as long as the lifeline does, which is as long as the process.
func watchLifeline(f *os.File) <-chan struct{} {
	cut := make(chan struct{})
	var st unix.Stat_t
	if f == nil || unix.Fstat(int(f.Fd()), &st) != nil {
		return cut
	}
	if kind := st.Mode & unix.S_IFMT; kind != unix.S_IFIFO && kind != unix.S_IFSOCK {
		return cut // an empty input or a terminal is nobody's sign of life
	}
	go func() {
		io.Copy(io.Discard, f)
		close(cut)
	}()
	return cut
}

// killAll kills everything below this process until nothing is left.
func (r *Reaper) killAll() error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGCHLD)
	defer signal.Stop(signals)
	again := time.NewTicker(10 * time.Millisecond) // for what was adopted without a signal
	defer again.Stop()
	for r.collect() {
		if _, err := killBelow(os.Getpid()); err != nil {
			return choir.Wrap("guest.reap", choir.CodeInternal, err, "find what is left of the command")
		}
		select {
		case <-signals:
		case <-again.C:
		}
	}
	return nil
}

// Leave ends this process as the command ended: with its code, or by its signal
// where the Go runtime lets a signal through, else with 128 and its number.
func (e Ended) Leave() {
	if !e.Status.Signaled() {
		os.Exit(e.Status.ExitStatus())
	}
	switch sig := e.Status.Signal(); sig {
	case syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
		signal.Reset(sig)
		syscall.Kill(os.Getpid(), sig)
		time.Sleep(time.Second) // the signal ends this process before that
	}
	os.Exit(128 + int(e.Status.Signal()))
}

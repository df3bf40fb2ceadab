package sandboxtest

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// paused checks that a sandbox that can be paused stands still, goes on, and hinders nobody.
func (s suite) paused(t *testing.T) {
	t.Run("stands still and goes on", s.part(s.standsStill))
	t.Run("whatever its programs do", s.part(s.standsStillWhatever))
	t.Run("while much is sent to it", s.part(s.standsStillWhileSentTo))
	t.Run("and its programs live on, however long", s.part(s.standsStillLong))
	t.Run("can be destroyed", s.part(func(t *testing.T) {
		b := s.create(t, choir.RoleAssociate, nil)
		s.pause(t, b)
		destroy(t, b)
		ended(t, b)
		if s.lacks[Processes] == "" {
			nothingLeft(t, b.spec)
		}
	}))
	t.Run("is resumed by the driver that takes it up", s.part(func(t *testing.T) {
		setup := Setup{StateDir: DataDir(t)}
		spec := s.spec(t, choir.RoleAssociate)
		first := s.newDriver(t, setup)
		b, err := first.Create(timeout(t), spec)
		if err != nil {
			t.Fatal(err)
		}
		defer closeDriver(t, first)
		s.pause(t, b)
		second := s.newDriver(t, setup)
		defer closeDriver(t, second)
		found, err := second.Recover(timeout(t), b.Handle())
		if err != nil {
			t.Fatal(err)
		}
		defer destroy(t, found)
		if _, err := connect(t, second, found, spec).client.Hello(timeout(t)); err != nil {
			t.Error(err)
		}
	}))
	t.Run("killed with its control plane", s.part(func(t *testing.T) {
		o := s.newOrders(t, time.Second)
		probe, err := s.driver.Create(timeout(t), o.Spec)
		if err != nil {
			t.Fatal(err)
		}
		s.pause(t, probe) // or the case is skipped
		destroy(t, probe)
		o.Pause = true
		h := createAndDie(t, o)
		waitForEnd(t, o.Spec) // though no driver looks after it
		d := s.newDriver(t, o.Setup)
		defer closeDriver(t, d)
		_, err = d.Recover(timeout(t), h)
		wantVerdict(t, sandbox.Gone, err)
		nothingLeft(t, o.Spec)
	}))
}

// pause pauses a sandbox, twice. Where that is not possible it skips the test.
func (s suite) pause(t *testing.T, b sandbox.Sandbox) {
	t.Helper()
	p, ok := b.(sandbox.Pauser)
	if in, wrapped := b.(inside); wrapped {
		p, ok = in.Sandbox.(sandbox.Pauser)
		if in.mux != nil {
			in.mux.SetPaused(true)
		}
	}
	if !ok {
		destroy(t, b)
		t.Skip("sandboxes of this driver cannot be paused")
	}
	err := p.Pause(timeout(t))
	if choir.CodeOf(err) == choir.CodeUnavailable && !s.limited {
		destroy(t, b)
		t.Skip("no cgroups here: ", err)
	}
	if err == nil {
		err = p.Pause(timeout(t))
	}
	if err != nil {
		destroy(t, b)
		t.Fatal(err)
	}
}

// resume lets a paused sandbox go on.
func resume(t *testing.T, b inside) {
	t.Helper()
	if err := b.Sandbox.(sandbox.Pauser).Resume(timeout(t)); err != nil {
		t.Fatal(err)
	}
	if b.mux != nil {
		b.mux.SetPaused(false)
	}
}

// ticks counts the lines that a command printed.
type ticks struct {
	mu sync.Mutex // guards n
	n  int
}

// Write implements io.Writer.
func (k *ticks) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.n += bytes.Count(p, []byte("\n"))
	return len(p), nil
}

func (k *ticks) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.n
}

// waitMore waits until there are more ticks than n.
func (k *ticks) waitMore(t *testing.T, n int) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := timeout(t); k.count() <= n; {
		select {
		case <-tick.C:
		case <-deadline.Done():
			t.Fatalf("there are %d ticks, no more than %d", k.count(), n)
		}
	}
}

// tick runs a program that prints without end until end is called, and returns once it prints.
func (b inside) tick(t *testing.T, argv ...string) (seen *ticks, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p, err := b.client.Exec(ctx, guest.ExecSpec{Argv: argv})
	if err != nil {
		t.Fatal(err)
	}
	seen = &ticks{}
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = p.Wait(seen, seen) }) // it is ended
	end = func() { cancel(); reading.Wait() }
	t.Cleanup(end)
	seen.waitMore(t, 3)
	return seen, end
}

// standsStill pauses a sandbox in which a program prints lines without end.
func (s suite) standsStill(t *testing.T) {
	b := s.create(t, choir.RoleAssociate, nil)
	seen, end := b.tick(t, "/bin/sh", "-c", "while :; do echo tick; sleep 0.01; done")
	defer end()
	s.pause(t, b)
	quiet := func(d time.Duration) int {
		before := seen.count()
		<-time.After(d)
		return seen.count() - before
	}
	quiet(200 * time.Millisecond) // what it had printed is on its way
	if n := quiet(500 * time.Millisecond); n > 0 {
		t.Errorf("%d lines came while it was paused", n)
	}
	at := seen.count()
	began := time.Now()
	resume(t, b)
	resumed := time.Since(began)
	if _, err := b.client.Hello(timeout(t)); err != nil {
		t.Error(err)
	}
	t.Logf("resumed in %s, answered in %s", resumed, time.Since(began))
	seen.waitMore(t, at+3)
}

// standsStillLong pauses a sandbox with busy programs for longer than a kernel of its own, such as
// the sentry's, waits for a program that does not run.
func (s suite) standsStillLong(t *testing.T) {
	if testing.Short() {
		t.Skip("it pauses a sandbox for 40 seconds: make soak runs it")
	}
	b := s.create(t, choir.RoleAssociate, nil)
	var all []*ticks
	for range 4 {
		seen, end := b.tick(t, "python3", "-c", "while True:\n for i in range(100000): pass\n print(1, flush=True)")
		defer end()
		all = append(all, seen)
	}
	s.pause(t, b)
	<-time.After(40 * time.Second)
	resume(t, b)
	for _, seen := range all {
		seen.waitMore(t, seen.count()+3)
	}
	if _, err := b.client.Hello(timeout(t)); err != nil {
		t.Error(err)
	}
}

// restless are programs that make it hard to stop them, each with a line of output once it does so
// and then as long as it runs: a storm of forks, as many forks as there may be, a parent that waits within vfork, a child that
// stops itself, and a child that is stopped for its tracer.
var restless = map[string]string{
	"a storm of forks": `import os, sys
for _ in range(8):
    if os.fork() == 0:
        while True:
            if os.fork() == 0: os._exit(0)
            os.wait()
`,
	"a fork bomb": `import os
if os.fork() == 0:
    while True:
        try: os.fork()
        except OSError: pass
`,
	"a wait within vfork": `import ctypes, os
libc = ctypes.CDLL(None)
if os.fork() == 0:
    if libc.vfork() == 0: libc.pause()
`,
	"a stop of its own": `import os, signal
if os.fork() == 0: os.kill(os.getpid(), signal.SIGSTOP)
`,
	"a stop for a tracer": `import ctypes, os, signal
if os.fork() == 0:
    ctypes.CDLL(None).ptrace(0, 0, 0, 0)
    os.kill(os.getpid(), signal.SIGSTOP)
`,
}

// standsStillWhatever pauses sandboxes with restless programs.
func (s suite) standsStillWhatever(t *testing.T) {
	for name, program := range restless {
		t.Run(name, func(t *testing.T) {
			b := s.create(t, choir.RoleAssociate, func(spec *sandbox.Spec) { spec.Limits.Processes = 64 })
			seen, end := b.tick(t, "python3", "-c", program+"import time\nwhile True: print(1, flush=True); time.sleep(0.01)")
			defer end()
			s.pause(t, b)
			at := seen.count()
			resume(t, b)
			seen.waitMore(t, at)
			destroy(t, b)
		})
	}
}

// standsStillWhileSentTo pauses a sandbox for longer than a far end may leave a stream unread,
// while a program in it is sent more than the stream holds.
func (s suite) standsStillWhileSentTo(t *testing.T) {
	b := s.create(t, choir.RoleAssociate, nil)
	p, err := b.client.Exec(timeout(t), guest.ExecSpec{Argv: []string{"/bin/sh", "-c", "cat >/dev/null; echo got it"}, Stdin: true})
	if err != nil {
		t.Fatal(err)
	}
	const pieces, piece = 64, 64 << 10
	var out bytes.Buffer
	sent, ended := make(chan error, 1), make(chan error, 1)
	go func() { // which also hears that there is room for more
		_, err := p.Wait(&out, &out)
		ended <- err
	}()
	s.pause(t, b)
	go func() {
		for range pieces {
			if _, err := p.Write(make([]byte, piece)); err != nil {
				sent <- err
				return
			}
		}
		sent <- p.CloseStdin()
	}()
	<-time.After(12 * time.Second)
	resume(t, b)
	if err := <-sent; err != nil {
		t.Error("what was sent while it was paused: ", err)
	}
	if err := <-ended; err != nil || out.String() != "got it\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if _, err := b.client.Hello(timeout(t)); err != nil {
		t.Error(err)
	}
}

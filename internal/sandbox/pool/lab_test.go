package pool_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/fake"
	"choiros/internal/sandbox/pool"
	"choiros/internal/sandbox/sandboxtest"
)

// patience bounds every wait of these tests.
const patience = 60 * time.Second

// lab is a pool that is served until the test ends.
type lab struct {
	*pool.Pool
	t       *testing.T
	dir     string
	machine *fake.Machine
	stop    func() // ends Serve, and waits for that; once

	mu     sync.Mutex // guards memory and now
	memory pool.Memory
	now    time.Time
}

// free and tight are memories with and without room.
var (
	free  = pool.Memory{Total: 100, Available: 90}
	tight = pool.Memory{Total: 100, Available: 90, Pressure: 40}
)

// newLab serves a pool over fake sandboxes. between returns the driver that the pool is given, from
// the one of the fake machine; nil for that itself.
func newLab(t *testing.T, between func(sandbox.Driver) sandbox.Driver, change ...func(*pool.Config)) *lab {
	t.Helper()
	t.Parallel()
	l := &lab{t: t, dir: sandboxtest.DataDir(t), machine: fake.NewMachine(t, fake.Config{}), memory: free, now: time.Now()}
	var driver sandbox.Driver = l.machine.Driver()
	if between != nil {
		driver = between(driver)
	}
	l.Pool = pool.New(driver, l.config(change...))
	l.serve()
	return l
}

func (l *lab) config(change ...func(*pool.Config)) pool.Config {
	cfg := pool.Config{
		Dir: filepath.Join(l.dir, "ready"), Most: 2, Look: 5 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
		Memory: func() (pool.Memory, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.memory, nil
		},
		Now: func() time.Time {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.now
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	return cfg
}

func (l *lab) serve() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(l.t.Context()))
	var served sync.WaitGroup
	served.Go(func() { _ = l.Serve(ctx) }) // it ends with ctx
	l.stop = sync.OnceFunc(func() {
		cancel()
		served.Wait()
	})
	l.t.Cleanup(l.stop)
}

// set changes the memory of the machine.
func (l *lab) set(m pool.Memory) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.memory = m
}

// pass lets time pass.
func (l *lab) pass(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(d)
}

// specs returns the specs of both roles of a new computer.
func (l *lab) specs() []sandbox.Spec {
	l.t.Helper()
	guest := l.t.TempDir()
	associate := sandboxtest.SpecIn(l.t, l.dir, guest, choir.RoleAssociate)
	director := sandboxtest.SpecIn(l.t, l.dir, guest, choir.RoleDirector)
	director.Computer = associate.Computer
	return []sandbox.Spec{director, associate}
}

// ready prepares sandboxes and waits until n are ready.
func (l *lab) ready(n int, specs []sandbox.Spec) {
	l.t.Helper()
	l.Prepare(specs)
	l.waitReady(n)
}

// waitReady waits until n sandboxes are ready.
func (l *lab) waitReady(n int) {
	l.t.Helper()
	l.eventually("sandboxes are ready", func() bool { return l.Counts().Ready == n })
}

func (l *lab) eventually(what string, reached func() bool) {
	l.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !reached() {
		select {
		case <-tick.C:
		case <-deadline:
			l.t.Fatalf("%s: not within %s; the counts are %+v", what, patience, l.Counts())
		}
	}
}

// within is a context that ends with the test's patience.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// made creates a sandbox by the pool, which is destroyed when the test ends.
func (l *lab) made(spec sandbox.Spec) sandbox.Sandbox {
	l.t.Helper()
	b, err := l.Create(within(l.t), spec)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		if err := b.Destroy(context.WithoutCancel(l.t.Context())); err != nil {
			l.t.Error(err)
		}
	})
	return b
}

// handles returns the handles of the ready sandboxes, by their notes.
func (l *lab) handles() (all []sandbox.Handle) {
	l.t.Helper()
	paths, err := filepath.Glob(filepath.Join(l.dir, "ready", "*.json"))
	if err != nil {
		l.t.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // it was claimed meanwhile
		}
		var h sandbox.Handle
		if err = errors.Join(err, json.Unmarshal(raw, &h)); err != nil {
			l.t.Fatal(err)
		}
		all = append(all, h)
	}
	return all
}

// answers fails the test unless the sandbox takes connections.
func (l *lab) answers(b sandbox.Sandbox) {
	l.t.Helper()
	c, err := b.Dial(within(l.t))
	if err != nil {
		l.t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		l.t.Error(err)
	}
}

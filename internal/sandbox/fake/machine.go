package fake

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// Config configures a machine; the zero value has no programs.
type Config struct {
	// Programs are the functions that sandboxes run, by the last part of the
	// program's path. A role has the name of its binary.
	Programs map[string]Program
	// Orphan is how long a sandbox outlives its control plane; zero means
	// sandbox.OrphanSeconds.
	Orphan time.Duration
}

// Machine holds sandboxes that outlive their drivers, as those of a real machine outlive
// the control plane. It is safe for concurrent use.
type Machine struct {
	cfg     Config
	serving sync.WaitGroup // one for each sandbox that lives

	mu    sync.Mutex // guards what follows
	boxes map[string]*box
	made  int
	most  map[string]int // sandboxes that lived at once, by workspace
	conns map[*conn]struct{}
	// The faults to come.
	create  []error
	recover []fault
}

// fault is an injected failure of Recover.
type fault struct {
	err  error
	ends bool // the sandbox ends first
}

// NewMachine returns a machine without sandboxes. All its sandboxes end with the test. It
// panics outside of tests.
func NewMachine(t testing.TB, cfg Config) *Machine {
	if !testing.Testing() {
		panic("the fake sandbox driver isolates nothing and runs in tests only")
	}
	cfg.Orphan = cmp.Or(cfg.Orphan, sandbox.OrphanSeconds*time.Second)
	m := &Machine{cfg: cfg, boxes: map[string]*box{}, most: map[string]int{}, conns: map[*conn]struct{}{}}
	t.Cleanup(func() {
		for _, b := range m.all() {
			b.end()
		}
		m.serving.Wait()
	})
	return m
}

// Driver returns a new driver of the machine's sandboxes, for one control plane.
func (m *Machine) Driver() *Driver { return &Driver{machine: m, closed: make(chan struct{})} }

// FailCreate makes the next times calls of Create fail with err, without creating a
// sandbox.
func (m *Machine) FailCreate(times int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range times {
		m.create = append(m.create, err)
	}
}

// FailRecover makes the next times calls of Recover fail with err, while the sandbox
// lives on.
func (m *Machine) FailRecover(times int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range times {
		m.recover = append(m.recover, fault{err: err})
	}
}

// LoseAtRecover makes the next times calls of Recover end the sandbox and report that it
// has ended.
func (m *Machine) LoseAtRecover(times int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range times {
		m.recover = append(m.recover, fault{ends: true})
	}
}

// DropControl breaks every connection to every sandbox, including streams. The sandboxes
// live on and can be dialled again.
func (m *Machine) DropControl() { m.drop(func(*conn) bool { return true }) }

// drop breaks the connections for which which returns true.
func (m *Machine) drop(which func(*conn) bool) {
	m.mu.Lock()
	var broken []*conn
	for c := range m.conns {
		if which(c) {
			broken = append(broken, c)
		}
	}
	m.mu.Unlock()
	for _, c := range broken {
		c.shut()
	}
}

// Made returns the number of sandboxes made so far.
func (m *Machine) Made() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.made
}

// Living returns the number of living sandboxes on a workspace folder.
func (m *Machine) Living(workspace string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.living(workspace)
}

// Most returns the maximal number of sandboxes that lived on a workspace folder at the
// same time.
func (m *Machine) Most(workspace string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.most[workspace]
}

// living returns the number of living sandboxes on a workspace folder. The caller holds
// mu.
func (m *Machine) living(workspace string) (n int) {
	for _, b := range m.boxes {
		if b.spec.WorkspaceFolder() == workspace {
			n++
		}
	}
	return n
}

// all returns the living sandboxes.
func (m *Machine) all() (boxes []*box) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.boxes {
		boxes = append(boxes, b)
	}
	return boxes
}

// boot makes a sandbox and serves it, or returns an injected error.
func (m *Machine) boot(spec sandbox.Spec) (*box, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.create) > 0 {
		err := m.create[0]
		m.create = m.create[1:]
		return nil, err
	}
	workspace, err := openWorkspace(spec)
	if err != nil {
		return nil, err
	}
	m.made++
	b := m.newBox(strconv.Itoa(m.made), spec, workspace)
	m.boxes[b.id] = b
	folder := spec.WorkspaceFolder()
	m.most[folder] = max(m.most[folder], m.living(folder))
	m.serving.Go(b.serve)
	return b, nil
}

// find returns the sandbox with an id. If it has ended the error is code not_found;
// injected faults apply.
func (m *Machine) find(ctx context.Context, id string) (*box, error) {
	m.mu.Lock()
	b := m.boxes[id]
	var f fault
	if len(m.recover) > 0 {
		f, m.recover = m.recover[0], m.recover[1:]
	}
	m.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	if f.ends && b != nil {
		if err := b.destroy(ctx); err != nil {
			return nil, err
		}
		b = nil
	}
	if b == nil {
		return nil, choir.E("fake.recover", choir.CodeNotFound, "the sandbox has ended")
	}
	return b, nil
}

// forget removes an ended sandbox from the machine's list.
func (m *Machine) forget(b *box) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.boxes, b.id)
}

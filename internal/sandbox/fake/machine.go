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

// Config of a machine; the zero value runs no program.
type Config struct {
	// Programs are the functions that sandboxes run, by the last part of the
	// program's path. A role has the name of its binary.
	Programs map[string]Program
	// Orphan is how long a sandbox outlives its control plane; zero means
	// sandbox.OrphanSeconds.
	Orphan time.Duration
}

// Machine holds sandboxes, which live on when a driver of theirs is closed, as those
// of a real machine do when the control plane ends. All methods may be called at once.
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

// fault is an answer to Recover that is not the sandbox.
type fault struct {
	err  error
	ends bool // the sandbox ends first
}

// NewMachine makes a machine without sandboxes. They end with the test.
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

// Driver makes a driver of the machine's sandboxes, for one control plane.
func (m *Machine) Driver() *Driver { return &Driver{machine: m, closed: make(chan struct{})} }

// FailCreate makes that many calls of Create fail with an error; nothing is made.
func (m *Machine) FailCreate(times int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range times {
		m.create = append(m.create, err)
	}
}

// FailRecover makes that many calls of Recover fail with an error that does not say
// whether the sandbox lives, such as code timeout. It does.
func (m *Machine) FailRecover(times int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range times {
		m.recover = append(m.recover, fault{err: err})
	}
}

// LoseAtRecover makes that many calls of Recover find that the sandbox has ended.
func (m *Machine) LoseAtRecover(times int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range times {
		m.recover = append(m.recover, fault{ends: true})
	}
}

// DropControl breaks every connection to every sandbox, also those that became
// streams. The sandboxes live on and can be dialled again.
func (m *Machine) DropControl() { m.drop(func(*conn) bool { return true }) }

// drop breaks the connections for which which holds.
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

// Made is how many sandboxes were made so far.
func (m *Machine) Made() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.made
}

// Living is how many sandboxes live on a workspace.
func (m *Machine) Living(workspace string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.living(workspace)
}

// Most is how many sandboxes ever lived on a workspace at the same time.
func (m *Machine) Most(workspace string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.most[workspace]
}

// living is Living for who holds the lock.
func (m *Machine) living(workspace string) (n int) {
	for _, b := range m.boxes {
		if b.spec.Workspace == workspace {
			n++
		}
	}
	return n
}

// all are the sandboxes that live.
func (m *Machine) all() (boxes []*box) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.boxes {
		boxes = append(boxes, b)
	}
	return boxes
}

// boot makes a sandbox and serves it, unless a fault was asked for.
func (m *Machine) boot(spec sandbox.Spec) (*box, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.create) > 0 {
		err := m.create[0]
		m.create = m.create[1:]
		return nil, err
	}
	m.made++
	b := m.newBox(strconv.Itoa(m.made), spec)
	m.boxes[b.id] = b
	m.most[spec.Workspace] = max(m.most[spec.Workspace], m.living(spec.Workspace))
	m.serving.Go(b.serve)
	return b, nil
}

// find is the sandbox of a handle; code not_found when it has ended.
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

// forget takes a sandbox that has ended off the list.
func (m *Machine) forget(b *box) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.boxes, b.id)
}

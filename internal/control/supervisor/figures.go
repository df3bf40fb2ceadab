package supervisor

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/eventstore"
	"choiros/internal/foldersize"
)

// Figures are the sizes of a control plane at one moment: numbers and ids, and
// nothing that a person or a guest wrote.
type Figures struct {
	// Failing counts what fails of each of Parts.
	Failing   map[string]int
	Bus       hub.Figures
	Disk      DiskFigures
	Computers []ComputerFigures
}

// Parts are what Figures.Failing counts.
var Parts = []string{"bus", "log", "replication", "sandbox", "computer"}

// DiskFigures are the sizes of the file system that has the data folder, in bytes.
type DiskFigures struct{ Size, Free int64 }

// ComputerFigures are the sizes of one computer.
type ComputerFigures struct {
	ID       choir.ID
	Log      eventstore.Figures
	ReadOnly bool
	// Known says that what follows could be read from the log.
	Known     bool
	Runs      int                 // that are open
	Tasks     int                 // that are open
	Workspace choir.SnapshotTaken // the newest; zero before the first
	// Calls are the model calls that are being made, or wait for a slot.
	Calls   int
	Running map[choir.Role]bool // sandboxes
	// Blobs is what was measured last; BlobsKnown is false before the first time.
	Blobs      foldersize.Size
	BlobsKnown bool
}

// Figures measures the control plane. It waits for no log and no folder: sizes of
// folders are those that were measured last, in the background.
func (s *System) Figures(ctx context.Context) Figures {
	f := Figures{Failing: map[string]int{}, Bus: s.bus.Figures(), Disk: diskFigures(s.cfg.Data)}
	for _, part := range Parts {
		f.Failing[part] = 0
	}
	for what := range s.Health(ctx).Failing {
		part, _, _ := strings.Cut(what, " ")
		f.Failing[part]++
	}
	for _, c := range s.computers.list() {
		f.Computers = append(f.Computers, s.figuresOf(ctx, c))
	}
	return f
}

func (s *System) figuresOf(ctx context.Context, c *computer.Computer) ComputerFigures {
	log := c.Store()
	f := ComputerFigures{ID: c.ID(), Log: log.Figures(), ReadOnly: log.ReadOnly() != "", Running: map[choir.Role]bool{}}
	for _, role := range []choir.Role{choir.RoleDirector, choir.RoleAssociate} {
		_, f.Running[role] = c.Roles().Level(role)
	}
	if gw := s.gateways.peek(c.ID()); gw != nil {
		f.Calls = gw.InFlight()
	}
	f.Blobs, f.BlobsKnown = s.sizes.last(filepath.Join(s.folder.finished(c.ID()), "blobs"))
	ctx = eventstore.MayLag(ctx)
	runs, err := log.OpenRuns(ctx)
	if err != nil {
		return f
	}
	tasks, err := log.OpenTasks(ctx)
	if err != nil {
		return f
	}
	f.Workspace, err = log.LastTaken(ctx)
	f.Known = err == nil
	f.Runs, f.Tasks = len(runs), len(tasks)
	return f
}

func diskFigures(dir string) DiskFigures {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return DiskFigures{} // a folder that is gone fails elsewhere
	}
	return DiskFigures{Size: int64(st.Blocks) * st.Bsize, Free: int64(st.Bavail) * st.Bsize}
}

const (
	// sizeAge is how old the size of a folder may get before it is measured again,
	// when somebody asks for it.
	sizeAge = 5 * time.Minute
	// sizeMost bounds one measurement, in entries.
	sizeMost = 2 << 20
)

// folderSizes measures folders in the background, one at a time.
type folderSizes struct {
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup
	turn chan struct{} // of who measures

	mu     sync.Mutex // guards what follows
	of     map[string]measured
	closed bool
}

// measured is the size of a folder, and when it was asked for.
type measured struct {
	size  foldersize.Size
	known bool
	asked time.Time
}

func newFolderSizes() *folderSizes {
	f := &folderSizes{of: map[string]measured{}, turn: make(chan struct{}, 1)}
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

// last returns the size that was measured last, and has it measured anew where it is
// old; false before the first measurement has ended.
func (f *folderSizes) last(dir string) (foldersize.Size, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.of[dir]
	if now := time.Now(); !f.closed && now.Sub(m.asked) > sizeAge {
		m.asked = now
		f.of[dir] = m
		f.work.Go(func() { f.measure(dir) })
	}
	return m.size, m.known
}

func (f *folderSizes) measure(dir string) {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-f.ctx.Done():
		return
	}
	size, err := foldersize.Of(f.ctx, dir, sizeMost)
	if err != nil {
		return // it was stopped
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.of[dir]
	m.size, m.known = size, true
	f.of[dir] = m
}

// close stops measuring and waits for that.
func (f *folderSizes) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.stop()
	f.work.Wait()
}

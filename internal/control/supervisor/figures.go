package supervisor

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/control/hibernation"
	"choiros/internal/eventstore"
	"choiros/internal/foldersize"
	"choiros/internal/sandbox/pool"
)

// Figures are measurements of a control plane at one moment: numbers and ids, without
// text of a person or a guest.
type Figures struct {
	// Failing is the number of failures by part, for each of Parts.
	Failing   map[string]int
	Bus       bus.Figures
	Disk      DiskFigures
	Pool      hibernation.Counts
	Ready     pool.Counts       // sandboxes that were started beforehand
	Computers []ComputerFigures // that are open
}

// Parts are the keys of Figures.Failing.
var Parts = []string{"bus", "log", "replication", "sandbox", "computer"}

// DiskFigures are the size and free space of the data folder's file system, in bytes.
type DiskFigures struct{ Size, Free int64 }

// ComputerFigures are the measurements of one computer.
type ComputerFigures struct {
	ID       choir.ID
	Log      eventstore.Figures
	ReadOnly bool
	// Known is false if Runs, Tasks and Workspace could not be read from the log.
	Known     bool
	Runs      int                 // that are open
	Tasks     int                 // that are open
	Workspace choir.SnapshotTaken // the newest; zero before the first
	// Calls is the number of model calls in progress, including calls that wait for a
	// slot.
	Calls   int
	Running map[choir.Role]bool // sandboxes
	// Blobs is the most recent measurement of the blobs' folder; BlobsKnown is false
	// before the first.
	Blobs      foldersize.Size
	BlobsKnown bool
}

// Figures returns the current measurements. It does not wait for logs or folders: sizes
// of folders are those of the most recent measurement in the background.
func (s *System) Figures(ctx context.Context) Figures {
	f := Figures{Failing: map[string]int{}, Bus: s.bus.Figures(), Disk: diskFigures(s.cfg.Data), Pool: s.computers.pool.Counts()}
	if s.cfg.Ready != nil {
		f.Ready = s.cfg.Ready.Counts()
	}
	for _, part := range Parts {
		f.Failing[part] = 0
	}
	for what := range s.Health(ctx).Failing {
		part, _, _ := strings.Cut(what, " ")
		f.Failing[part]++
	}
	open, release := s.computers.pool.Hold()
	defer release()
	for _, c := range open {
		f.Computers = append(f.Computers, s.figuresOf(ctx, c))
	}
	return f
}

// figuresOf returns the current measurements of one computer.
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

// diskFigures returns the size and free space of a folder's file system; zero if it
// cannot be read.
func diskFigures(dir string) DiskFigures {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return DiskFigures{} // a folder that is gone fails elsewhere
	}
	return DiskFigures{Size: int64(st.Blocks) * st.Bsize, Free: int64(st.Bavail) * st.Bsize}
}

const (
	// sizeAge is the age at which a folder's size is measured again on request.
	sizeAge = 5 * time.Minute
	// sizeMost is the maximum of entries in one measurement.
	sizeMost = 2 << 20
)

// folderSizes measures sizes of folders in the background, one at a time.
type folderSizes struct {
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup
	turn chan struct{} // has one value while a measurement runs

	mu     sync.Mutex // guards the fields below
	of     map[string]measured
	closed bool
}

// measured is the size of a folder, and the time of the latest request to measure it.
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

// last returns the most recent size of a folder, and starts a new measurement if that is
// older than sizeAge; false before the first has ended.
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

// measure measures a folder when no other measurement runs, and stores the size. It does
// nothing once close was called.
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

// close stops the measurements and waits for their end.
func (f *folderSizes) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.stop()
	f.work.Wait()
}

package workspace

import (
	"slices"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// WorkKind is the kind of an operation on a workspace.
type WorkKind string

// The kinds of work.
const (
	WorkLooking   WorkKind = "looking"   // it is read
	WorkRestoring WorkKind = "restoring" // it is made what a snapshot says
	WorkWaiting   WorkKind = "waiting"   // for runs to stop, or for the lock of the workspace
	WorkRemoving  WorkKind = "removing"  // something of it is removed for good, beside everything else
)

// Work describes the operation on the workspace now, and its progress.
type Work struct {
	Kind    WorkKind   `json:"kind" doc:"looking, restoring, waiting or removing."`
	Entries int64      `json:"entries" doc:"Paths looked at, or removed, so far."`
	Bytes   int64      `json:"bytes" doc:"Bytes read so far."`
	Since   choir.Time `json:"since"`
}

// working are the operations on one workspace that are in progress, which end in any order.
type working struct {
	mu  sync.Mutex // guards all
	all []*Work    // in the order of their starts
}

// start records the start of an operation; the returned function records its end.
func (w *working) start(kind WorkKind) (done func()) {
	mine := &Work{Kind: kind, Since: choir.TimeOf(time.Now())}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, mine)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all = slices.DeleteFunc(w.all, func(one *Work) bool { return one == mine })
	}
}

// newest returns the operation that started last; nil if there is none. The caller holds mu.
func (w *working) newest() *Work {
	if len(w.all) == 0 {
		return nil
	}
	return w.all[len(w.all)-1]
}

// report records the progress of the operation that started last.
func (w *working) report(p snapshot.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := w.newest(); now != nil {
		now.Entries, now.Bytes = p.Entries, p.Bytes
	}
}

// work returns the operation that started last; nil if there is none.
func (w *working) work() *Work {
	w.mu.Lock()
	defer w.mu.Unlock()
	newest := w.newest()
	if newest == nil {
		return nil
	}
	now := *newest
	return &now
}

// Waiting records that somebody waits for runs to stop or for the tree; done records
// the end of that.
func (t *tree) Waiting() (done func()) { return t.at.start(WorkWaiting) }

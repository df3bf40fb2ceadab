package workspace

import (
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

// working is the current operation of one workspace.
type working struct {
	mu  sync.Mutex // guards now
	now *Work
}

// start records the start of an operation; the returned function records its end.
func (w *working) start(kind WorkKind) (done func()) {
	mine := &Work{Kind: kind, Since: choir.TimeOf(time.Now())}
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.now
	w.now = mine
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.now == mine {
			w.now = before
		}
	}
}

// report records the progress of the operation.
func (w *working) report(p snapshot.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now != nil {
		w.now.Entries, w.now.Bytes = p.Entries, p.Bytes
	}
}

// work returns the current operation; nil if there is none.
func (w *working) work() *Work {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now == nil {
		return nil
	}
	now := *w.now
	return &now
}

// Waiting records that somebody waits for runs to stop or for the tree; done records
// the end of that.
func (t *tree) Waiting() (done func()) { return t.at.start(WorkWaiting) }

package workspace

import (
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// WorkKind is what is done to a workspace.
type WorkKind string

// The kinds of work.
const (
	WorkLooking   WorkKind = "looking"   // it is read
	WorkRestoring WorkKind = "restoring" // it is made what a snapshot says
	WorkWaiting   WorkKind = "waiting"   // for runs to stop, or for whoever has the workspace
	WorkRemoving  WorkKind = "removing"  // something of it is removed for good, beside everything else
)

// Work says what is done to the workspace now, and how far that is.
type Work struct {
	Kind    WorkKind   `json:"kind" doc:"looking, restoring, waiting or removing."`
	Entries int64      `json:"entries" doc:"Paths looked at, or removed, so far."`
	Bytes   int64      `json:"bytes" doc:"Bytes read so far."`
	Since   choir.Time `json:"since"`
}

// working is the work of one computer.
type working struct {
	mu  sync.Mutex // guards now
	now *Work
}

// does notes that work begins; what is returned notes its end.
func (w *working) does(kind WorkKind) (done func()) {
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

// report notes how far the work is.
func (w *working) report(p snapshot.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now != nil {
		w.now.Entries, w.now.Bytes = p.Entries, p.Bytes
	}
}

// work returns what is done now; nil for nothing.
func (w *working) work() *Work {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now == nil {
		return nil
	}
	now := *w.now
	return &now
}

// Waiting says that somebody waits for runs to stop, or for the tree, until done is
// called.
func (t *tree) Waiting() (done func()) { return t.at.does(WorkWaiting) }

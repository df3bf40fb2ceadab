package eventstore

import (
	"context"
	"slices"
	"sync"
	"time"

	"choiros/internal/choir"
)

// Bounds of one role's appends under way. Others share each sync with at most that
// much, and the SQLite copy is never behind by much more for a role.
const (
	roleWidth   = 64          // appends
	roleBytes   = 128 << 10   // bytes of their payloads; one append may have more
	roleQueued  = 256         // appends that wait; more are refused as busy
	roleBacklog = 64 << 10    // bytes that the SQLite copy may lack, where others append too
	copyBacklog = 256 << 10   // bytes that the SQLite copy may lack before a role waits for it
	roleRecent  = time.Second // for which a role counts as appending
)

// fairQueues limits the concurrent appends of each role, so that a flood from one role
// delays only that role. The control plane is exempt, because it appends on behalf of
// all.
type fairQueues struct {
	mu    sync.Mutex // guards what follows
	roles map[choir.Role]*roleQueue
}

// roleQueue counts the running appends of one role and holds its waiting ones.
type roleQueue struct {
	running int
	bytes   int       // of the appends that run
	lacking int       // bytes appended since the SQLite copy was waited for
	at      time.Time // of the last append
	waiting []*queuedAppend
}

// queuedAppend is one waiting append.
type queuedAppend struct {
	bytes int
	ready chan struct{} // closed when it may run
}

var errQueueFull = choir.Refuse("eventstore.append", choir.ReasonAppendQueueFull)

// acquire waits until the role may append bytes more bytes. Code busy: too many appends
// of the role wait already.
func (t *fairQueues) acquire(ctx context.Context, role choir.Role, bytes int) error {
	t.mu.Lock()
	if t.roles == nil {
		t.roles = map[choir.Role]*roleQueue{}
	}
	own := t.roles[role]
	if own == nil {
		own = &roleQueue{}
		t.roles[role] = own
	}
	if len(own.waiting) == 0 && own.fits(bytes) {
		own.running, own.bytes = own.running+1, own.bytes+bytes
		t.mu.Unlock()
		return nil
	}
	if len(own.waiting) >= roleQueued {
		t.mu.Unlock()
		return errQueueFull
	}
	p := &queuedAppend{bytes, make(chan struct{})}
	own.waiting = append(own.waiting, p)
	t.mu.Unlock()
	select {
	case <-p.ready:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(own.waiting, p); i >= 0 {
		own.waiting = slices.Delete(own.waiting, i, i+1)
	} else {
		own.release(p.bytes)
	}
	return choir.Wrap("eventstore.append", choir.CodeCancelled, ctx.Err(), "stopped before anything was appended")
}

func (o *roleQueue) fits(bytes int) bool {
	return o.running == 0 || o.running < roleWidth && o.bytes+bytes <= roleBytes
}

// release ends one append of bytes bytes and starts the waiting appends that now fit.
// The caller holds mu.
func (o *roleQueue) release(bytes int) {
	o.running, o.bytes = o.running-1, o.bytes-bytes
	for len(o.waiting) > 0 && o.fits(o.waiting[0].bytes) {
		next := o.waiting[0]
		o.waiting = slices.Delete(o.waiting, 0, 1)
		o.running, o.bytes = o.running+1, o.bytes+next.bytes
		close(next.ready)
	}
}

func (t *fairQueues) release(role choir.Role, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.roles[role].release(bytes)
}

// mustCatchUp reports whether a role that has appended bytes more bytes must wait for
// the SQLite copy, and then resets the role's count. Writing the copy takes disk and
// processor time from the appends of others.
func (t *fairQueues) mustCatchUp(role choir.Role, bytes int, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.roles[role]
	own.at = now
	if own.lacking += bytes; own.lacking < roleBacklog {
		return false
	}
	own.lacking = 0
	for other, o := range t.roles {
		if other != role && (o.running > 0 || now.Sub(o.at) < roleRecent) {
			return true
		}
	}
	return false
}

// appendFairly calls add once the role's queue has room.
func (s *Store) appendFairly(ctx context.Context, role choir.Role, drafts []choir.Draft, add func() ([]choir.Receipt, error)) ([]choir.Receipt, error) {
	if role == choir.RoleControl {
		return add()
	}
	bytes := 0
	for i := range drafts {
		bytes += len(drafts[i].Payload) + eventOverhead
	}
	if err := s.queues.acquire(ctx, role, bytes); err != nil {
		return nil, err
	}
	defer s.queues.release(role, bytes)
	receipts, err := add()
	if err == nil && s.queues.mustCatchUp(role, bytes, time.Now()) && s.applier.backlog() >= copyBacklog {
		// What is appended stays appended, whatever keeps the copy behind.
		_ = s.applier.waitFor(ctx, receipts[len(receipts)-1].Seq)
	}
	return receipts, err
}

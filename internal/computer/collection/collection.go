// Package collection removes unreachable content of a computer: the blobs that no event
// of its log refers to, directly or through a snapshot. It runs on request and once a
// day.
//
// It reads the log and the content, and holds the tree of files meanwhile. It knows
// neither driver nor bus.
package collection

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// Collected counts the objects that a collection removed, or would remove.
type Collected struct {
	Moments int   `json:"moments" doc:"Snapshots of tool calls that were let go."`
	Kept    int   `json:"kept" doc:"Objects that something leads to, or that are fresh."`
	Removed int   `json:"removed" doc:"Objects that were removed."`
	Bytes   int64 `json:"bytes" doc:"Bytes of what was removed."`
	DryRun  bool  `json:"dry_run,omitempty"`
}

// fresh is the minimum age of an object for its removal, because new content has no
// event yet.
const fresh = 24 * time.Hour

// Log is the part of its computer's log that a Collector reads. The methods are those
// of eventstore.Store.
type Log interface {
	timeline.Log
	Head() (uint64, choir.Digest)
	OpenTasks(ctx context.Context) ([]eventstore.Task, error)
}

// Workspace is the tree of files, whose writers rely on content that no event leads to
// yet; workspace.Workspace is one.
type Workspace interface {
	Lock(ctx context.Context) (unlock func(), err error)
	UnfinishedIntent() (bool, error)
}

// Config of a Collector.
type Config struct {
	// KeepCalls is how long the snapshots of tool calls are kept by collections that
	// come by themselves; with zero none comes.
	KeepCalls time.Duration
	// Every is between collections that come by themselves; zero is a day.
	Every time.Duration
	// KeepsTree reports whether a tree is kept to which no event leads yet; nothing is
	// removed meanwhile. Nil for never.
	KeepsTree func(ctx context.Context) (bool, error)
	Computer  choir.ID // for what Logger says
	Now       func() time.Time
	Logger    *slog.Logger
}

// Collector removes unreachable content of one computer. Its methods are safe for
// concurrent use.
type Collector struct {
	log       Log
	blobs     blob.Store
	keeper    *snapshot.Keeper // of blobs
	workspace Workspace
	cfg       Config

	// mu is held by a collection, and for reading by Pause. A collection holds the tree
	// before it.
	mu sync.RWMutex
	// refusing counts who refuses collections, see Refuse.
	refusing atomic.Int64
}

// New returns the Collector of the content in blobs that log refers to. keeper must be
// the workspace's, and store its snapshots in blobs.
func New(log Log, blobs blob.Store, keeper *snapshot.Keeper, workspace Workspace, cfg Config) *Collector {
	return &Collector{log: log, blobs: blobs, keeper: keeper, workspace: workspace, cfg: cfg}
}

// Pause prevents collections until resume is called, for callers that read the tree
// without its lock or copy content. It waits for a running collection. Collections that
// start meanwhile wait. resume is called once.
func (c *Collector) Pause() (resume func()) {
	c.mu.RLock()
	return c.mu.RUnlock
}

// Refuse makes collections fail until again is called, while another process reads the
// content. It waits for a running collection. again may be called repeatedly.
func (c *Collector) Refuse() (again func()) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	c.refusing.Add(1)
	return sync.OnceFunc(func() { c.refusing.Add(-1) })
}

// Collect removes content that no event refers to. It first releases the snapshots of
// tool calls older than keep, except the last one; snapshots at which a task began or
// ended, checkpoints and changes by people stay, as do all events. With dryRun it
// removes nothing and returns the counts. Code busy: collections are refused now.
func (c *Collector) Collect(ctx context.Context, keep time.Duration, dryRun bool) (Collected, error) {
	now := c.cfg.Now()
	out := Collected{DryRun: dryRun}
	store, ok := c.blobs.(blob.Collector)
	if !ok {
		return out, choir.Refuse("computer.collect", choir.ReasonStoreKeepsAll)
	}
	// Whoever looks at the tree relies on what is there.
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return out, err
	}
	defer unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refusing.Load() > 0 {
		return out, choir.Refuse("computer.collect", choir.ReasonBeingExported)
	}
	if unfinished, err := c.workspace.UnfinishedIntent(); err != nil || unfinished {
		return out, errors.Join(choir.Refuse("computer.collect", choir.ReasonWorkspaceToBecome), err)
	}
	if err := c.mustKeepNoTree(ctx); err != nil {
		return out, err
	}
	needed, err := c.reachable(ctx, choir.TimeOf(now.Add(-keep)), &out)
	if err != nil {
		return out, err
	}
	defer c.keeper.Forget()
	limit := now.Add(-fresh)
	return out, store.Each(ctx, func(b blob.Info) error {
		if needed[b.Digest] || !b.Put.Before(limit) {
			out.Kept++
			return nil
		}
		gone := dryRun
		if !dryRun {
			var err error
			if gone, err = store.Remove(ctx, b.Digest, limit); err != nil {
				return err
			}
		}
		if gone {
			out.Removed++
			out.Bytes += b.Size
		}
		return nil
	})
}

// mustKeepNoTree is code conflict while a tree is kept to which no event leads.
func (c *Collector) mustKeepNoTree(ctx context.Context) error {
	if c.cfg.KeepsTree == nil {
		return nil
	}
	keeps, err := c.cfg.KeepsTree(ctx)
	if err == nil && keeps {
		err = choir.Refuse("computer.collect", choir.ReasonWorkspaceToRecord)
	}
	return err
}

// reachable returns the digests that the log refers to, without the tool call snapshots
// from before a time.
func (c *Collector) reachable(ctx context.Context, before choir.Time, out *Collected) (map[choir.Digest]bool, error) {
	head, _ := c.log.Head()
	let, err := c.oldCalls(ctx, head, before)
	if err != nil {
		return nil, err
	}
	out.Moments = len(let)
	reached, err := timeline.ReachWithout(ctx, c.log, c.keeper, head, func(e *choir.Event) bool {
		switch e.Type {
		case choir.TypeSnapshotTaken:
			return let[e.Seq] != ""
		case choir.TypeFileWritten, choir.TypeFileRemoved:
			return true // the snapshot that ends them leads to the same
		}
		return false
	})
	needed := make(map[choir.Digest]bool, len(reached.Digests))
	for _, d := range reached.Digests {
		needed[d] = true
	}
	return needed, err
}

// oldCalls returns the snapshots of tool calls from before a time, by event number,
// except the last one.
func (c *Collector) oldCalls(ctx context.Context, head uint64, before choir.Time) (map[uint64]choir.Digest, error) {
	let := map[uint64]choir.Digest{}
	last := uint64(0)
	for e, err := range c.log.Events(ctx, 1, head) {
		if err != nil {
			return nil, err
		}
		if e.Type != choir.TypeSnapshotTaken || e.Time >= before {
			continue
		}
		p, err := choir.ReadPayload(e.Type, e.Payload)
		if err != nil {
			return nil, err
		}
		if taken := p.(*choir.SnapshotTaken); taken.Reason == "tool_called" || taken.Reason == "tool_returned" {
			let[e.Seq], last = taken.Snapshot, e.Seq
		}
	}
	delete(let, last)
	return let, nil
}

// Package reconcile brings the workspace of a computer and its log together when the
// Associate's sandbox has come up, before its role runs: it lays out a new workspace,
// finishes what a kill interrupted, records what changed while no sandbox was there, and
// puts back what a power cut took.
//
// It reaches the tree by way of package workspace and knows neither driver nor bus, so it
// is tested with choir-init's server in the test's own process.
package reconcile

import (
	"context"
	"log/slog"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Log is the part of the computer's log that a Reconciler reads. eventstore.Store
// implements it.
type Log interface {
	Head() (uint64, choir.Digest)
	SnapshotAt(ctx context.Context, seq uint64) (choir.SnapshotTaken, uint64, error)
}

// Tree is the workspace's file tree. Its methods are called without its lock, because
// nobody else can reach the tree then.
type Tree interface {
	Limit(client *guest.Client)
	TaskAtWork(ctx context.Context) (*eventstore.Task, error)
	ScanWith(ctx context.Context, client *guest.Client, only []string) (snapshot.Result, error)
	Without(ctx context.Context, root choir.Digest, paths []string) (choir.Digest, error)
	RestoreTree(ctx context.Context, client *guest.Client, root choir.Digest, opts guest.RestoreOptions) (snapshot.RestoreResult, error)
	ResumeRemoving()
}

// Intents are rewrites of the tree that a crash may leave unfinished.
type Intents interface {
	UnfinishedIntent() (bool, error)
	FinishIntent(ctx context.Context, client *guest.Client) (found bool, err error)
	CarryOut(ctx context.Context, client *guest.Client, in workspace.Intent) (choir.Receipt, error)
}

// Record reads the tree's recorded state from the log and appends the owner's changes.
type Record interface {
	LastSnapshot(ctx context.Context) (choir.Digest, error)
	RecordOwners(ctx context.Context, now snapshot.Result) error
}

// Workspace is the workspace that a Reconciler prepares. workspace.Workspace implements
// it.
type Workspace interface {
	Tree
	Intents
	Record
}

// Source is the desktop's source in the workspace. selfsource.Source implements it.
type Source interface {
	Ship(ctx context.Context, client *guest.Client) error
	MayRenew(ctx context.Context) (bool, error)
	Renew(ctx context.Context, client *guest.Client) error
}

// Collector removes content that no event refers to. collection.Collector implements it.
type Collector interface {
	// Pause makes collections wait until resume, which the caller calls once.
	Pause() (resume func())
}

// Config configures a Reconciler.
type Config struct {
	Computer choir.ID
	// Folders are what a new workspace has, as paths below its root.
	Folders []string
	// RestoreNote is the path of a file on the host, which is there while the folder of the
	// workspace on the host is still to be filled, or the workspace is in sandboxes. See
	// fetchedTree.
	RestoreNote string
	Logger      *slog.Logger // is told of a workspace that cannot be read
}

// Reconciler prepares the workspace of one computer at each start of its sandbox.
// rolehost.Workspace says in which order its methods are called.
type Reconciler struct {
	cfg       Config
	log       Log
	events    *appender.Appender // appends to log
	keeper    *snapshot.Keeper   // of the workspace's trees
	workspace Workspace
	source    Source
	collector Collector
	// machineWentDown says that the machine did, under the session before.
	machineWentDown bool
}

// New returns the Reconciler of a computer. It reads log, and appends with events, which
// must append to the same log. It pauses the collector while it depends on content that
// no event refers to.
func New(log Log, events *appender.Appender, keeper *snapshot.Keeper, workspace Workspace, source Source, collector Collector, cfg Config) *Reconciler {
	return &Reconciler{cfg: cfg, log: log, events: events, keeper: keeper, workspace: workspace, source: source, collector: collector}
}

// DistrustWorkspace makes the next FirstLook restore the workspace from the log, because
// the machine went down during the previous session. Call it before the first start.
func (r *Reconciler) DistrustWorkspace() { r.machineWentDown = true }

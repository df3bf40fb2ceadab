// Package copies makes computers that begin with the past of another, by a fork or by the
// export and import of one file, and takes over into one what changed in another since
// the two had the same past.
//
// It reads the log and the content, reaches the tree by way of package workspace, and knows
// neither driver nor bus. Package internal/timeline has the format of the file.
package copies

import (
	"context"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/moments"
	"choiros/internal/computer/treemerge"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// Log is the part of its computer's log that a Copier reads. The methods are those of
// eventstore.Store.
type Log interface {
	timeline.Source
	Head() (uint64, choir.Digest)
	At(ctx context.Context, seq uint64) (choir.Event, error)
	SnapshotAt(ctx context.Context, seq uint64) (choir.SnapshotTaken, uint64, error)
	Share(ctx context.Context, dir string, seq uint64) error
}

// Workspace is the tree of files; workspace.Workspace is one.
type Workspace interface {
	RecordNow(ctx context.Context) error
	LastSnapshot(ctx context.Context) (choir.Digest, error)
}

// Collections removes content that nothing leads to; collection.Collector is one.
type Collections interface {
	// Pause lets collections wait until resume.
	Pause() (resume func())
	// Refuse refuses collections until again is called, which may be twice.
	Refuse() (again func())
}

// Moments finds the workspace of earlier moments; moments.Moments is one.
type Moments interface {
	Tree(ctx context.Context, seq uint64) (choir.Digest, error)
}

// Merger merges changes into the workspace; treemerge.Merger is one.
type Merger interface {
	Apply(ctx context.Context, role choir.Role, s treemerge.Step, dryRun bool) (treemerge.Applied, error)
}

// Config of a Copier.
type Config struct {
	Computer choir.ID
	Name     string // what its owner calls the computer
	// Available returns what the computer has of a snapshot.
	Available moments.Available
}

// Copier makes copies of one computer, and takes changes of others into it. Its methods
// may be called at once.
type Copier struct {
	log         Log
	events      *appender.Appender // appends to log
	blobs       blob.Store
	keeper      *snapshot.Keeper // of blobs
	collections Collections      // of blobs
	workspace   Workspace
	moments     Moments // of the workspace
	merger      Merger  // into the workspace
	cfg         Config
}

// New makes the Copier of a computer. It reads log and appends with events, which must
// append to the same log; keeper and collections must be those of blobs, moments and
// merger those of workspace.
func New(log Log, events *appender.Appender, blobs blob.Store, keeper *snapshot.Keeper, collections Collections, workspace Workspace, moments Moments, merger Merger, cfg Config) *Copier {
	return &Copier{log: log, events: events, blobs: blobs, keeper: keeper, collections: collections, workspace: workspace, moments: moments, merger: merger, cfg: cfg}
}

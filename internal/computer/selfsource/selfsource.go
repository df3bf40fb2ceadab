// Package selfsource is the source of a computer's desktop, which lies in its
// workspace for people and agents to rewrite: whether it was changed since it was
// shipped, whether choir carries a newer one, what of it broke and whose change that
// was, and its upgrade, a three-way merge.
//
// It reaches the tree by way of package workspace and knows neither driver nor bus, so
// it is tested with choir-init's server in the test's own process.
package selfsource

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"golang.org/x/time/rate"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/treemerge"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// Folder is the folder of the workspace with the desktop's own source.
const Folder = "choiros"

// ThemeFolder is the folder of the workspace with the desktop's themes.
const ThemeFolder = Folder + "/" + themes

// themes is the folder of the source with its themes.
const themes = "themes"

// Log is the part of its computer's log that a Source reads. The methods are those of
// eventstore.Store.
type Log interface {
	Head() (uint64, choir.Digest)
	At(ctx context.Context, seq uint64) (choir.Event, error)
	Run(ctx context.Context, id choir.ID) (eventstore.Run, error)
	FirstSnapshot(ctx context.Context) (choir.SnapshotTaken, uint64, error)
	LastChange(ctx context.Context, folder string) (uint64, error)
	SourceUpgraded(ctx context.Context) (choir.DesktopUpgraded, error)
}

// Workspace is the tree with the source; workspace.Workspace is one.
type Workspace interface {
	Lock(ctx context.Context) (unlock func(), err error)
	MustBeIdle(ctx context.Context) error
	TaskAtWork(ctx context.Context) (*eventstore.Task, error)
	LastSnapshot(ctx context.Context) (choir.Digest, error)
	Lookup(ctx context.Context, root choir.Digest, path string) (*snapshot.Entry, error)
	Scan(ctx context.Context, only ...string) (snapshot.Result, *guest.Client, error)
	ScanWith(ctx context.Context, client *guest.Client, only []string) (snapshot.Result, error)
	CarryOut(ctx context.Context, client *guest.Client, in workspace.Intent) (choir.Receipt, error)
}

// Merger merges changes into the workspace; treemerge.Merger is one.
type Merger interface {
	PlanHeld(ctx context.Context, s treemerge.Step) (treemerge.Applied, error)
	ApplyHeld(ctx context.Context, role choir.Role, s treemerge.Step, dryRun bool) (treemerge.Applied, error)
	Trees(ctx context.Context, base, theirs, ours choir.Digest) (timeline.Merged, error)
}

// Config of a Source.
type Config struct {
	Computer choir.ID
	// Archive is the source that this choir carries, as a tar; empty for none.
	Archive []byte
	Version string // of this choir
	// Available returns what is left of a tree without files that did not come along
	// when the computer was forked or imported. Code not_found when it was collected.
	Available func(ctx context.Context, root choir.Digest) (choir.Digest, error)
	// Running returns the run whose task works in the workspace; empty for none.
	Running func(ctx context.Context) choir.ID
	Now     func() time.Time
	Logger  *slog.Logger // is told of an upgrade that nobody waits for
}

// Source is the desktop's source in one workspace. Its methods may be called at once.
type Source struct {
	cfg        Config
	log        Log
	events     *appender.Appender // appends to log
	keeper     *snapshot.Keeper   // of the workspace's trees
	workspace  Workspace
	merger     Merger
	known      known
	reports    reports
	brokeLimit *rate.Limiter
}

// New makes the source of a computer's desktop. It reads log and appends with events,
// which must append to the same log; merger must merge into the same workspace.
func New(log Log, events *appender.Appender, keeper *snapshot.Keeper, workspace Workspace, merger Merger, cfg Config) *Source {
	return &Source{cfg: cfg, log: log, events: events, keeper: keeper, workspace: workspace, merger: merger, brokeLimit: newBrokeLimit()}
}

// Ship unpacks the source that this choir carries into a new workspace, of which no
// snapshot was taken yet. A source that the owner removed later is not restored.
func (s *Source) Ship(ctx context.Context, client *guest.Client) error {
	last, err := s.workspace.LastSnapshot(ctx)
	if err != nil || last != "" || len(s.cfg.Archive) == 0 {
		return err
	}
	_, _, err = client.Unpack(ctx, Folder, bytes.NewReader(s.cfg.Archive))
	if choir.CodeOf(err) == choir.CodeConflict {
		return nil // an earlier start got this far
	}
	return choir.Wrap("computer.source", "", err, "lay out the desktop's source")
}

package api

import (
	"context"
	"io"
	"iter"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/collection"
	"choiros/internal/computer/copies"
	"choiros/internal/computer/moments"
	"choiros/internal/computer/projects"
	"choiros/internal/computer/rewind"
	"choiros/internal/computer/selfsource"
	"choiros/internal/computer/treemerge"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/sandbox"
)

// Computer is one computer as requests reach it: its names and its parts. A part has the
// methods that the API calls, and no more of the computer is behind it.
type Computer struct {
	ID, User choir.ID
	Name     string

	Log       Log
	Content   Content
	Desk      Desk
	Workspace Workspace
	Projects  Projects
	Source    Source
	Roles     Roles
	Terminals Terminals
	Runs      Runs
	Tasks     Tasks
	Verifier  Verifier
	Moments   Moments
	Rewinder  Rewinder
	Copier    Copier
	Collector Collector
}

// EventLog is a computer's log as a list of events. The methods are those of
// eventstore.Store.
type EventLog interface {
	Head() (uint64, choir.Digest)
	ReadOnly() string
	EventsAfter(ctx context.Context, seq uint64, limit int) ([]choir.Event, error)
	EventsOfRun(ctx context.Context, run choir.ID, after uint64) iter.Seq2[choir.Event, error]
	WaitPast(ctx context.Context, seq uint64) error
}

// RunLog is what a computer's log says of runs and tasks. The methods are those of
// eventstore.Store.
type RunLog interface {
	Runs(ctx context.Context, limit int, before uint64) ([]eventstore.Run, error)
	Run(ctx context.Context, id choir.ID) (eventstore.Run, error)
	RunAsOf(ctx context.Context, id choir.ID, asOf uint64) (eventstore.Run, []eventstore.Task, error)
	OpenRuns(ctx context.Context) ([]eventstore.Run, error)
	Tasks(ctx context.Context, run choir.ID) ([]eventstore.Task, error)
	Task(ctx context.Context, id choir.ID) (eventstore.Task, error)
	OpenTasks(ctx context.Context) ([]eventstore.Task, error)
}

// TreeLog is what a computer's log says of the workspace. The methods are those of
// eventstore.Store.
type TreeLog interface {
	Files(ctx context.Context, asOf uint64, prefix string, limit int, after string) ([]choir.FileState, error)
	Checkpoints(ctx context.Context, limit int, before uint64) ([]eventstore.Checkpoint, error)
	Checkpoint(ctx context.Context, id choir.ID) (eventstore.Checkpoint, error)
	LastTaken(ctx context.Context) (choir.SnapshotTaken, error)
}

// LogState is how a computer's log is. The methods are those of eventstore.Store.
type LogState interface {
	Figures() eventstore.Figures
	Counts(ctx context.Context) (map[choir.Type]int64, error)
	Repairs() []choir.LogRepaired
}

// Log is a computer's log, for reading; eventstore.Store is one.
type Log interface {
	EventLog
	RunLog
	TreeLog
	LogState
}

// Content is a computer's content by digest, for reading; blob.Store is one.
type Content interface {
	Open(ctx context.Context, d choir.Digest) (io.ReadCloser, error)
}

// Desk is what a person sees and changes on the desktop; desk.Desk is one.
type Desk interface {
	deskWindows
	deskDocuments
	deskOverlays
	deskDrafts
}

// Workspace is a computer's files; workspace.Workspace is one.
type Workspace interface {
	workspaceFiles
	workspaceFolders
	workspaceTrash
	workspacePast
	// Work returns what is done to the workspace now; nil for nothing.
	Work() *workspace.Work
}

// workspaceTrash is what the API needs of a workspace for the trash.
type workspaceTrash interface {
	Trash(ctx context.Context) ([]workspace.Trashed, error)
	Discard(ctx context.Context, role choir.Role, items []workspace.Discarding) ([]workspace.Trashed, error)
	Restore(ctx context.Context, role choir.Role, id choir.ID, to string) (choir.FileState, error)
	EmptyTrash(ctx context.Context, role choir.Role, id choir.ID) error
}

// workspacePast is what the API needs of a workspace as it was.
type workspacePast interface {
	FolderAt(ctx context.Context, seq uint64, path string) ([]choir.FileState, error)
	ListFolderAt(ctx context.Context, seq uint64, path, after string, limit int) (workspace.FolderPage, error)
	ReadFileAt(ctx context.Context, seq uint64, path string) (choir.FileState, io.ReadCloser, error)
}

// Projects is people's projects in a computer's workspace; projects.Projects is one.
type Projects interface {
	List(ctx context.Context) ([]choir.RepoAdded, error)
	Add(ctx context.Context, role choir.Role, n projects.NewProject, content io.Reader) (choir.RepoAdded, error)
	Export(ctx context.Context, role choir.Role, name, format string, w io.Writer) error
}

// Source is the desktop's own source in a computer's workspace; selfsource.Source is one.
type Source interface {
	Outdated(ctx context.Context) (bool, error)
	Upgrade(ctx context.Context, role choir.Role, dryRun bool) (selfsource.Upgraded, error)
	Broke(ctx context.Context) (*selfsource.Broke, error)
	ReportBroke(ctx context.Context, role choir.Role, b choir.DesktopBroke) (selfsource.Broke, error)
}

// Roles is how a computer's Director and Associate are; rolehost.Host is one.
type Roles interface {
	Level(role choir.Role) (sandbox.Level, bool)
	Serving(role choir.Role) bool
	Failure(role choir.Role) error
	PublicKey(role choir.Role) string
}

// Runs is what a person asks of a computer's runs; runs.Runs is one.
type Runs interface {
	Prompt(ctx context.Context, role choir.Role, p choir.PromptSubmitted, key choir.ID) (choir.ID, choir.Receipt, error)
	Steer(ctx context.Context, role choir.Role, run choir.ID, text string) error
	Answer(ctx context.Context, role choir.Role, run choir.ID, question, text string) error
	Cancel(ctx context.Context, role choir.Role, run choir.ID, reason string) error
	Dismiss(ctx context.Context, role choir.Role, run choir.ID) error
}

// Tasks hands tasks to a computer's Associate; dispatch.Tasks is one.
type Tasks interface {
	ReadTask(raw []byte) (choir.DirectorTask, error)
	Submit(ctx context.Context, role choir.Role, task choir.DirectorTask) (choir.Receipt, error)
	Checkpoint(ctx context.Context, role choir.Role, repo, subject string) (choir.AssociateResult, error)
}

// Verifier checks the copies of a computer's log; verification.Verifier is one.
type Verifier interface {
	Verify(ctx context.Context) (eventstore.Report, error)
}

// Moments is a computer's past, to be read; moments.Moments is one.
type Moments interface {
	At(ctx context.Context, seq uint64) (moments.Moment, error)
	Marks(ctx context.Context, limit int, before uint64) ([]moments.Mark, error)
	Diff(ctx context.Context, from, to uint64) (moments.MomentsDiff, error)
	DiffFiles(ctx context.Context, from, to uint64) (workspace.Difference, error)
	TextDiff(ctx context.Context, d workspace.Difference) (files []moments.FileDiff, cut bool, err error)
}

// Rewinder rewrites a computer's workspace to what it was; rewind.Rewinder is one.
type Rewinder interface {
	Rewind(ctx context.Context, role choir.Role, seq uint64, dryRun bool) (rewind.Rewound, error)
	Start(ctx context.Context, role choir.Role, seq uint64) (*rewind.Job, error)
	Last() *rewind.Job
	Cancel(ctx context.Context) error
	Undo(ctx context.Context, role choir.Role, of choir.ID, dryRun bool) (treemerge.Applied, error)
}

// Copier exports a computer; copies.Copier is one.
type Copier interface {
	PrepareExport(ctx context.Context) (*copies.Export, error)
	Exported(ctx context.Context, role choir.Role, e *copies.Export) error
}

// Collector removes content that nothing leads to; collection.Collector is one.
type Collector interface {
	Collect(ctx context.Context, keep time.Duration, dryRun bool) (collection.Collected, error)
}

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

// Computer is one computer as the API uses it: its ids, its name and its parts. Each
// part is an interface of the methods that the API calls.
type Computer struct {
	ID, User choir.ID
	Name     string
	Egress   choir.EgressMode // of the policy for programs in its sandboxes
	Frozen   bool             // its programs stand still
	// Reach returns what that policy lets out without a grant.
	Reach func() EgressReach

	Log       Log
	Content   Content
	Desk      Desk
	Workspace Workspace
	Projects  Projects
	Source    Source
	Roles     Roles
	Terminals Terminals
	Runs      Runs
	Grants    Grants
	Effects   Effects
	Tasks     Tasks
	Verifier  Verifier
	Moments   Moments
	Rewinder  Rewinder
	Copier    Copier
	Collector Collector
	Vault     Vault
	Repos     Repos
}

// EventLog reads the events of a computer's log; eventstore.Store implements it.
type EventLog interface {
	Head() (uint64, choir.Digest)
	ReadOnly() string
	EventsAfter(ctx context.Context, seq uint64, limit int) ([]choir.Event, error)
	EventsOfRun(ctx context.Context, run choir.ID, after uint64) iter.Seq2[choir.Event, error]
	WaitPast(ctx context.Context, seq uint64) error
}

// RunLog reads runs and tasks from a computer's log; eventstore.Store implements it.
type RunLog interface {
	Runs(ctx context.Context, limit int, before uint64) ([]eventstore.Run, error)
	Run(ctx context.Context, id choir.ID) (eventstore.Run, error)
	RunAsOf(ctx context.Context, id choir.ID, asOf uint64) (eventstore.Run, []eventstore.Task, error)
	OpenRuns(ctx context.Context) ([]eventstore.Run, error)
	Tasks(ctx context.Context, run choir.ID) ([]eventstore.Task, error)
	Task(ctx context.Context, id choir.ID) (eventstore.Task, error)
	OpenTasks(ctx context.Context) ([]eventstore.Task, error)
}

// TreeLog reads the workspace's history from a computer's log; eventstore.Store
// implements it.
type TreeLog interface {
	Files(ctx context.Context, asOf uint64, prefix string, limit int, after string) ([]choir.FileState, error)
	Checkpoints(ctx context.Context, limit int, before uint64) ([]eventstore.Checkpoint, error)
	Checkpoint(ctx context.Context, id choir.ID) (eventstore.Checkpoint, error)
	LastTaken(ctx context.Context) (choir.SnapshotTaken, error)
}

// LogState reports sizes, counts and repairs of a computer's log; eventstore.Store
// implements it.
type LogState interface {
	Figures() eventstore.Figures
	Counts(ctx context.Context) (map[choir.Type]int64, error)
	Repairs() []choir.LogRepaired
}

// Log reads a computer's log; eventstore.Store implements it.
type Log interface {
	EventLog
	RunLog
	TreeLog
	LogState
	EgressHosts(ctx context.Context) ([]eventstore.EgressHost, error)
}

// Content reads a computer's blobs by digest; blob.Store implements it.
type Content interface {
	Open(ctx context.Context, d choir.Digest) (io.ReadCloser, error)
}

// Desk reads and changes windows, theme, settings, documents and drafts; desk.Desk
// implements it.
type Desk interface {
	deskWindows
	deskDocuments
	deskOverlays
	deskDrafts
}

// Workspace reads and changes a computer's files; workspace.Workspace implements it.
type Workspace interface {
	workspaceFiles
	workspaceFolders
	workspaceTrash
	workspacePast
	// Work returns the long operation in progress on the workspace and its progress; nil
	// for none.
	Work() *workspace.Work
}

// workspaceTrash is the part of a workspace with which the API reads and empties the
// trash.
type workspaceTrash interface {
	Trash(ctx context.Context) ([]workspace.Trashed, error)
	Discard(ctx context.Context, role choir.Role, items []workspace.Discarding) ([]workspace.Trashed, error)
	Restore(ctx context.Context, role choir.Role, id choir.ID, to string) (choir.FileState, error)
	EmptyTrash(ctx context.Context, role choir.Role, id choir.ID) error
}

// workspacePast is the part of a workspace with which the API reads earlier moments.
type workspacePast interface {
	FolderAt(ctx context.Context, seq uint64, path string) ([]choir.FileState, error)
	ListFolderAt(ctx context.Context, seq uint64, path, after string, limit int) (workspace.FolderPage, error)
	ReadFileAt(ctx context.Context, seq uint64, path string) (choir.FileState, io.ReadCloser, error)
}

// Repos lists projects with what their hosts have of them, and clones from hosts.
type Repos interface {
	List(ctx context.Context) ([]Repo, error)
	Clone(ctx context.Context, role choir.Role, name, url, credential string) (choir.RepoAdded, error)
}

// Projects adds and exports the projects in a computer's workspace;
// projects.Projects implements it.
type Projects interface {
	Add(ctx context.Context, role choir.Role, n projects.NewProject, content io.Reader) (choir.RepoAdded, error)
	Export(ctx context.Context, role choir.Role, name, format string, w io.Writer) error
}

// Source reads and upgrades the desktop's source in a computer's workspace, and records
// what broke in it; selfsource.Source implements it.
type Source interface {
	Outdated(ctx context.Context) (bool, error)
	Upgrade(ctx context.Context, role choir.Role, dryRun bool) (selfsource.Upgraded, error)
	Broke(ctx context.Context) (*selfsource.Broke, error)
	ReportBroke(ctx context.Context, role choir.Role, b choir.DesktopBroke) (selfsource.Broke, error)
}

// Roles reports the state of a computer's Director and Associate and their sandboxes;
// rolehost.Host implements it.
type Roles interface {
	Level(role choir.Role) (sandbox.Level, bool)
	Serving(role choir.Role) bool
	Failure(role choir.Role) error
	PublicKey(role choir.Role) string
}

// Runs starts, steers and ends runs for a person; runs.Runs implements it.
type Runs interface {
	Prompt(ctx context.Context, role choir.Role, p choir.PromptSubmitted, key choir.ID) (choir.ID, choir.Receipt, error)
	Steer(ctx context.Context, role choir.Role, run choir.ID, text string) error
	Pause(ctx context.Context, role choir.Role, run choir.ID) error
	Resume(ctx context.Context, role choir.Role, run choir.ID) error
	Answer(ctx context.Context, role choir.Role, run choir.ID, question, text string) error
	Cancel(ctx context.Context, role choir.Role, run choir.ID, reason string) error
	Dismiss(ctx context.Context, role choir.Role, run choir.ID) error
}

// Tasks dispatches tasks to a computer's Associate; dispatch.Tasks implements it.
type Tasks interface {
	ReadTask(raw []byte) (choir.DirectorTask, error)
	Submit(ctx context.Context, role choir.Role, task choir.DirectorTask) (choir.Receipt, error)
	Checkpoint(ctx context.Context, role choir.Role, repo, subject string) (choir.AssociateResult, error)
}

// Verifier verifies both copies of a computer's log; verification.Verifier implements
// it.
type Verifier interface {
	Verify(ctx context.Context) (eventstore.Report, error)
}

// Moments reads a computer's past and its differences; moments.Moments implements it.
type Moments interface {
	At(ctx context.Context, seq uint64) (moments.Moment, error)
	Marks(ctx context.Context, limit int, before uint64) ([]moments.Mark, error)
	Diff(ctx context.Context, from, to uint64) (moments.MomentsDiff, error)
	DiffFiles(ctx context.Context, from, to uint64) (workspace.Difference, error)
	TextDiff(ctx context.Context, d workspace.Difference) (files []moments.FileDiff, cut bool, err error)
}

// Rewinder rewinds a computer's workspace and undoes single actions; rewind.Rewinder
// implements it.
type Rewinder interface {
	Rewind(ctx context.Context, role choir.Role, seq uint64, dryRun bool) (rewind.Rewound, error)
	Start(ctx context.Context, role choir.Role, seq uint64) (*rewind.Job, error)
	Last() *rewind.Job
	Cancel(ctx context.Context) error
	Undo(ctx context.Context, role choir.Role, of choir.ID, dryRun bool) (treemerge.Applied, error)
}

// Copier exports a computer; copies.Copier implements it.
type Copier interface {
	PrepareExport(ctx context.Context) (*copies.Export, error)
	Exported(ctx context.Context, role choir.Role, e *copies.Export) error
}

// Collector removes unreachable content; collection.Collector implements it.
type Collector interface {
	Collect(ctx context.Context, keep time.Duration, dryRun bool) (collection.Collected, error)
}

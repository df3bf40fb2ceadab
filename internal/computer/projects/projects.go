// Package projects is people's own projects in the workspace of a computer: they are
// added from a tar stream or cloned from a repository at a host, listed by what the log
// says, and what was done to one since is exported or pushed with git.
//
// It reaches the tree by way of package workspace, and git by way of a client of
// choir-init: the control plane runs no git on a repository of a user's. It knows
// neither driver nor bus, so it is tested with choir-init's server in the test's own
// process.
package projects

import (
	"context"
	"io"
	"iter"
	"path"
	"slices"
	"sync"
	"sync/atomic"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Folder is the folder of the workspace in which the projects lie.
const Folder = "workspace"

// Log is the part of their computer's log that Projects read. The methods are those of
// eventstore.Store.
type Log interface {
	// RepoEvents reads the events about projects after a number, see eventstore.Store.
	RepoEvents(ctx context.Context, after uint64) iter.Seq2[choir.Event, error]
	Head() (uint64, choir.Digest)
	WaitPast(ctx context.Context, seq uint64) error
	Files(ctx context.Context, asOf uint64, prefix string, limit int, after string) ([]choir.FileState, error)
	BroughtBy(ctx context.Context, name string) (choir.Source, error)
}

// Workspace is the tree with the projects; workspace.Workspace is one.
type Workspace interface {
	Lock(ctx context.Context) (unlock func(), err error)
	MustBeIdle(ctx context.Context) error
	Spool(content io.Reader) (io.ReadSeekCloser, error)
	Scan(ctx context.Context, only ...string) (snapshot.Result, *guest.Client, error)
	Record(ctx context.Context, now snapshot.Result, reason string, always bool) ([]choir.Draft, error)
	RecordFor(ctx context.Context, now snapshot.Result, reason string, task *eventstore.Task) error
	AppendChanges(ctx context.Context, role choir.Role, drafts []choir.Draft) error
	MoveAside(ctx context.Context, client *guest.Client, paths []string) ([]workspace.Aside, error)
	Lookup(ctx context.Context, root choir.Digest, path string) (*snapshot.Entry, error)
	UndoBelow(ctx context.Context, before choir.Digest, dest string, aside []workspace.Aside) error
}

// Sandbox is the sandbox that has the tree.
type Sandbox interface {
	// Guest returns a client of the sandbox's choir-init. Code unavailable when the
	// sandbox does not run.
	Guest(ctx context.Context) (*guest.Client, error)
}

// Projects are the projects of one computer. The methods may be called at once. The
// role that a method is given is that of the page or the command that asks.
type Projects struct {
	log       Log
	events    *appender.Appender // appends to log
	keeper    *snapshot.Keeper   // of the workspace's trees
	workspace Workspace
	sandbox   Sandbox
	inside    string // where the sandbox has the tree
	index     index
	adding    adding
	push      PushConfig
	pushing   atomic.Int32 // how many projects git pushes now
}

// New makes the projects of a computer. It reads log and appends with events, which
// must append to the same log; sandbox must have the tree of the workspace, at the path
// inside.
func New(log Log, events *appender.Appender, keeper *snapshot.Keeper, workspace Workspace, sandbox Sandbox, inside string, push PushConfig) *Projects {
	return &Projects{log: log, events: events, keeper: keeper, workspace: workspace, sandbox: sandbox, inside: inside, push: push}
}

// index caches the log's events about projects, up to the last event read.
type index struct {
	mu    sync.Mutex // guards what follows; not held while the log is read
	upTo  uint64
	known known // never changed in place
}

func (x *index) get() (uint64, known) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.upTo, x.known
}

// set replaces the cached events, unless another reader has read further.
func (x *index) set(upTo uint64, k known) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if upTo > x.upTo {
		x.upTo, x.known = upTo, k
	}
}

// List returns the added projects, each in its newest state.
func (p *Projects) List(ctx context.Context) ([]choir.RepoAdded, error) {
	k, err := p.read(ctx)
	return k.list, err
}

// read returns what the log says of projects, in values of the caller's own.
func (p *Projects) read(ctx context.Context) (known, error) {
	after, k := p.index.get()
	k = k.clone()
	for e, err := range p.log.RepoEvents(ctx, after) {
		if err != nil {
			return known{}, err
		}
		after = e.Seq
		if err := k.add(&e); err != nil {
			return known{}, err
		}
	}
	p.index.set(after, k)
	return k.clone(), nil
}

func withProject(list []choir.RepoAdded, added choir.RepoAdded) []choir.RepoAdded {
	if i := slices.IndexFunc(list, func(r choir.RepoAdded) bool { return r.Name == added.Name }); i >= 0 {
		list[i] = added
		return list
	}
	return append(list, added)
}

// baseOf returns the commit that a project had when it was added. Code not_found: no
// such project was added.
func (k known) baseOf(name string) (string, error) {
	for _, r := range k.list {
		if r.Name == name {
			return r.Head, nil
		}
	}
	return "", choir.Refuse("computer.repo", choir.ReasonNoProject, choir.TextOf("name", name))
}

// MustHave returns an error if the workspace has no project with the name.
func (p *Projects) MustHave(ctx context.Context, name string) error {
	if !choir.ValidRepoName(name) {
		return choir.Refuse("computer.repo", choir.ReasonNotAProjectName, choir.TextOf("name", name)).At("repo")
	}
	folder := path.Join(Folder, name)
	for _, prefix := range []string{folder, folder + "/"} {
		found, err := p.log.Files(ctx, 0, prefix, 1, "")
		if err != nil {
			return err
		}
		if len(found) == 1 && (found[0].Path == folder || prefix != folder) {
			return nil
		}
	}
	e := choir.Refuse("computer.repo", choir.ReasonNoProject, choir.TextOf("name", name))
	e.Path = "repo"
	return e
}

package computer

import (
	"context"
	"net/http"
	"path/filepath"
	"time"

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/collection"
	"choiros/internal/computer/copies"
	"choiros/internal/computer/desk"
	"choiros/internal/computer/desk/drafts"
	"choiros/internal/computer/dispatch"
	"choiros/internal/computer/effects"
	"choiros/internal/computer/facts"
	"choiros/internal/computer/grants"
	"choiros/internal/computer/moments"
	"choiros/internal/computer/origin"
	"choiros/internal/computer/projects"
	"choiros/internal/computer/reconcile"
	"choiros/internal/computer/rewind"
	"choiros/internal/computer/rolehost"
	"choiros/internal/computer/runs"
	"choiros/internal/computer/selfsource"
	"choiros/internal/computer/session"
	"choiros/internal/computer/tasks"
	"choiros/internal/computer/treemerge"
	"choiros/internal/computer/verbs"
	"choiros/internal/computer/verification"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/replica"
	"choiros/internal/sandbox"
)

// draftsFile is the name of the file with the drafts in the computer's folder. Forks,
// exports and rewinds ignore it, because drafts are not in the log.
const draftsFile = "drafts.sqlite"

// makeParts sets the log of a computer that is being opened and creates its parts. Nothing
// runs before Serve.
func makeParts(c *Computer, log *eventstore.Store) {
	cfg := &c.cfg
	c.store = log
	c.events = appender.New(log, cfg.ID, c.NewID, cfg.Log)
	c.origin = origin.New(cfg.ID, log, c.events, c.keeper)
	c.verifier = verification.New(cfg.ID, log, c.events, clusterCopy(c.replica), cfg.Log)
	c.session = session.New(log, c.events, cfg.Version, cfg.Boot)
	c.draftNews = desk.NewDraftNews(cfg.ID, cfg.openDraftPost, cfg.Log)
	c.desk = desk.New(log, c.events, c.blobs, desk.Config{
		Themes: selfsource.ThemeFolder, Drafts: filepath.Join(cfg.Dir, draftsFile),
		ReadOnly: c.reading, Now: cfg.Now, DraftChanged: c.draftNews.Enqueue,
	})
	c.moments = moments.New(log, c.desk, c.keeper, c.origin.Available)
	preparing := &preparedWorkspace{} // which needs the workspace, which needs the roles
	c.roles = rolehost.New(log, c.events, cfg.Bus, preparing, roleConfig(c))
	c.workspace = workspace.New(log, c.events, c.blobs, c.keeper, c.roles, workspace.Config{
		Dir: cfg.Dir, Moment: c.moments.Tree, Disk: cfg.Disk, CacheLimit: cfg.CacheLimit, Hold: cfg.Hold, MaxUpload: cfg.MaxUpload,
		ScanPatience: cfg.Patience.Scan, Scanned: cfg.Observer.Scanned, Computer: cfg.ID, Logger: cfg.Log,
		Confines: c.roles.ConfinesTasks,
	})
	c.merger = treemerge.New(log, c.events, c.workspace, c.keeper, c.roles.Terminals(), cfg.Now)
	c.rewinder = rewind.New(log, c.events, c.moments, c.workspace, c.keeper, c.merger, c.roles.Terminals(), rewind.Config{
		Available: c.origin.Available, ReadOnly: c.reading,
		WrittenByOthers: func(ctx context.Context, task choir.ID, from, to uint64) ([]string, error) {
			return tasks.WrittenByOthers(ctx, log, task, from, to)
		},
	})
	c.collector = collection.New(log, c.blobs, c.keeper, c.workspace, collection.Config{
		KeepCalls: cfg.KeepCalls, Every: cfg.Patience.Collect, Computer: cfg.ID, Now: cfg.Now, Logger: cfg.Log,
		KeepsTree: func(ctx context.Context) (bool, error) {
			if keeps, err := c.taskChanges.KeepsTree(ctx); keeps || err != nil {
				return keeps, err
			}
			return c.reconciler.KeepsTree(ctx)
		},
	})
	c.copier = copies.New(log, c.events, c.blobs, c.keeper, c.collector, c.workspace, c.moments, c.merger, copies.Config{
		Computer: cfg.ID, Name: cfg.Name, Available: c.origin.Available,
	})
	c.source = selfsource.New(log, c.events, c.keeper, c.workspace, c.merger, sourceConfig(c))
	c.projects = projects.New(log, c.events, c.keeper, c.workspace, c.roles, sandbox.WorkspaceInside, pushConfig(c))
	c.reconciler = reconcile.New(log, c.events, c.keeper, c.workspace, c.source, c.collector, reconcile.Config{
		Computer: cfg.ID, Folders: []string{selfsource.Folder, "artifacts", projects.Folder}, RestoreNote: filepath.Join(cfg.Dir, copies.RestoreFile), Logger: cfg.Log,
	})
	preparing.Reconciler = c.reconciler
	var open effects.OpenHosts
	if cfg.EgressOpen != nil {
		open = func(task choir.ID) []choir.EffectHost { return cfg.EgressOpen(c, task) }
	}
	rules := effects.NewRules(cfg.Approve, open, log, c.keeper)
	c.taskChanges = tasks.New(cfg.ID, cfg.Dir, log, c.events, c.keeper, c.workspace, c.roles, rules, cfg.Log)
	c.tasks = dispatch.New(log, c.events, c.taskChanges, dispatch.Config{
		Computer: cfg.ID, AutoCheckpoint: cfg.AutoCheckpoint, Now: cfg.Now, Log: cfg.Log,
		Retry: cfg.Patience.Resend, Grace: cfg.Patience.Cancel,
	})
	c.effects = effects.New(log, c.events, c.blobs, c.keeper, c.taskChanges, c.workspace, c.merger, rules, effects.Config{Computer: cfg.ID, Logger: cfg.Log})
	c.runs = runs.New(log, c.events, runs.Config{
		MustHaveProject: c.projects.MustHave, DesktopCostUSD: cfg.DesktopCostUSD, DesktopSpan: cfg.DesktopSpan, Now: cfg.Now,
	})
	c.grants = grants.New(log, c.events, grants.Config{
		Check: func(host string, port int) error {
			if cfg.EgressCheck == nil {
				return choir.Refuse("computer.grant", choir.ReasonComputerNotRunning)
			}
			return cfg.EgressCheck(c, host, port)
		},
		Ended: func(grant choir.ID) {
			if cfg.EgressEnded != nil {
				cfg.EgressEnded(c, grant)
			}
		},
		Now: cfg.Now,
	})
	c.verbs = verbs.New(cfg.ID, verbs.Parts{
		Log: log, Blobs: c.blobs, Content: c.guestBlobs, Desk: c.desk, Runs: c.runs, Roles: c.roles, Tasks: boundTasks{c.taskChanges, c},
		Steering: c.tasks, Effects: c.effects,
		Facts: facts.New(log, c.moments.Tree, c.keeper),
	}, cfg.Observer, cfg.Log)
}

// pushConfig returns where commits of checkpoints are pushed to.
func pushConfig(c *Computer) projects.PushConfig {
	p := projects.PushConfig{Computer: c.cfg.ID, After: time.After}
	if c.cfg.PushRemote != nil {
		p.Remote = func(name string, link projects.Link) (url, gate string, ok bool) {
			return c.cfg.PushRemote(c, name, link)
		}
	}
	return p
}

// clusterCopy returns r as an interface that is nil if r is nil.
func clusterCopy(r replica.Replica) verification.Copy {
	if r == nil {
		return nil
	}
	return r
}

// boundTasks tells a starting task what it may reach outside, and has the programs that
// verify the desktop's source ready before a task that changed it is verified.
type boundTasks struct {
	*tasks.Changes
	of *Computer
}

// Start implements verbs.Tasks.
func (b boundTasks) Start(ctx context.Context, task choir.ID, since choir.Digest) (choir.TaskBeginReply, error) {
	reply, err := b.Changes.Start(ctx, task, since)
	return b.withEgress(ctx, task, reply, err)
}

// StartCopied implements verbs.Tasks.
func (b boundTasks) StartCopied(ctx context.Context, task choir.ID) (choir.TaskBeginReply, error) {
	reply, err := b.Changes.StartCopied(ctx, task)
	return b.withEgress(ctx, task, reply, err)
}

// StartUncopied implements verbs.Tasks.
func (b boundTasks) StartUncopied(ctx context.Context, task choir.ID) (choir.TaskBeginReply, error) {
	reply, err := b.Changes.StartUncopied(ctx, task)
	return b.withEgress(ctx, task, reply, err)
}

// withEgress returns the reply to a task's start with what the task may reach outside.
func (b boundTasks) withEgress(ctx context.Context, task choir.ID, reply choir.TaskBeginReply, err error) (choir.TaskBeginReply, error) {
	if err != nil {
		return reply, err
	}
	// The journal has it; the SQLite copy would have to write the start of the task first.
	e, err := b.of.store.First(ctx, choir.TypeTaskDispatched, string(task))
	if err != nil {
		return reply, err
	}
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return reply, choir.Wrap("computer.task", choir.CodeCorrupt, err, "event %d", e.Seq)
	}
	reply.Online, reply.EgressWider = b.of.cfg.EgressOf(b.of, p.(*choir.TaskDispatched).Task.EgressProfile)
	return reply, nil
}

// Compare implements verbs.Tasks.
func (b boundTasks) Compare(ctx context.Context, task choir.ID) (choir.TaskTreeReply, error) {
	reply, err := b.Changes.Compare(ctx, task)
	if err != nil || b.of.cfg.DesktopTools == nil {
		return reply, err
	}
	changed, err := b.changedDesktop(ctx, task, reply.Snapshot)
	if err == nil && changed {
		err = b.of.cfg.DesktopTools(ctx)
	}
	if err != nil {
		// The task's result says that the check was not there.
		b.of.cfg.Log.Warn("the desktop's source cannot be checked", "computer", b.of.cfg.ID, "task", task, "error", err)
	}
	return reply, nil
}

// changedDesktop reports whether the desktop's source in the tree now differs from the
// source in the task's base.
func (b boundTasks) changedDesktop(ctx context.Context, task choir.ID, now choir.Digest) (bool, error) {
	t, err := b.of.store.Task(ctx, task)
	if err != nil || t.Base == now {
		return false, err
	}
	var at [2]choir.Digest
	for i, root := range []choir.Digest{t.Base, now} {
		e, err := b.of.workspace.Lookup(ctx, root, selfsource.Folder)
		if err != nil && choir.CodeOf(err) != choir.CodeNotFound {
			return false, err
		}
		if e != nil {
			at[i] = e.Digest()
		}
	}
	return at[0] != at[1], nil
}

// preparedWorkspace implements rolehost.Workspace. Its Reconciler is set after the host is
// created, before anything is served.
type preparedWorkspace struct{ *reconcile.Reconciler }

// roleConfig returns the configuration of the host of a computer's roles.
func roleConfig(c *Computer) rolehost.Config {
	cfg := &c.cfg
	return rolehost.Config{
		ID: cfg.ID, User: cfg.User, Dir: cfg.Dir, Guest: cfg.Guest, Driver: cfg.Driver,
		HostUIDs: cfg.HostUIDs, Limits: cfg.Limits, RequireLimits: cfg.RequireLimits, Disk: cfg.Disk,
		RunLimits: cfg.RunLimits, Egress: func() http.Handler { return cfg.Egress(c) }, Trust: func() string { return trustOf(c) },
		ReadOnly: c.reading, Boot: cfg.Boot, Observer: cfg.Observer, Now: cfg.Now, Log: cfg.Log,
		Terminals: cfg.Terminals, TerminalFolder: projects.Folder, TerminalUsed: func() { c.workspace.TerminalUsed() },
		GuestPatience: cfg.Patience.Guest, StartPatience: cfg.Patience.Start, IdentityLife: cfg.Patience.Identity,
	}
}

// trustOf returns the folder of certificates that a computer's programs trust; "" for none.
func trustOf(c *Computer) string {
	if c.cfg.Trust == nil {
		return ""
	}
	return c.cfg.Trust(c)
}

// sourceConfig returns the configuration of a computer's desktop source.
func sourceConfig(c *Computer) selfsource.Config {
	return selfsource.Config{
		Computer: c.cfg.ID, Archive: c.cfg.Source, Version: c.cfg.Version,
		Available: func(ctx context.Context, root choir.Digest) (choir.Digest, error) {
			left, _, err := c.origin.Available(ctx, root)
			return left, err
		},
		Running: func(ctx context.Context) choir.ID {
			return c.writesSource(ctx)
		},
		Now: c.cfg.Now, Logger: c.cfg.Log,
	}
}

// writesSource returns the run of a task at work that can change the desktop's source; ""
// for none.
func (c *Computer) writesSource(ctx context.Context) choir.ID {
	open, err := c.store.OpenTasks(ctx)
	if err != nil {
		return "" // attribution only: the break is then nobody's
	}
	for i := range open {
		if t := &open[i]; t.Attempt > 0 && c.workspace.Scope(t).Holds(selfsource.Folder) {
			return t.Run
		}
	}
	return ""
}

// draftPost implements desk.DraftPost by the bus.
type draftPost struct{ bus.Post }

// TellDraft implements desk.DraftPost.
func (p draftPost) TellDraft(d drafts.Draft) error {
	return p.Post.TellDraft(bus.DraftChanged{App: d.App, Subject: d.Subject, Revision: d.Revision})
}

// openDraftPost opens a connection that publishes changes of drafts to the computer's
// pages. The caller closes it.
func (cfg *Config) openDraftPost() (desk.DraftPost, error) {
	post, err := cfg.Bus.OpenPost(cfg.User, cfg.ID)
	if err != nil {
		return nil, err
	}
	return draftPost{post}, nil
}

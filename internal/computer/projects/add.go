package projects

import (
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// NewProject describes a project to add.
type NewProject struct {
	Name    string
	Replace bool // a project of that name is replaced, else it is code conflict
	// Of, when given, are the sources whose project may be replaced, by the newest
	// repo.added of that name. Anything else at its place is code conflict.
	Of []choir.Source
	// Commit, when given, makes a repository of the project with one commit of
	// everything in it at that time.
	Commit *FirstCommit
}

// FirstCommit describes the commit of a project that comes without a git history.
type FirstCommit struct {
	Message string
	At      time.Time
}

// Add unpacks a tar stream as a project below workspace/ and records it. It is refused
// while a task works, because a rollback of that task would remove the project.
// Replaced files are in the previous snapshot; files that no snapshot holds go to the
// trash. After an error the workspace is as before.
func (p *Projects) Add(ctx context.Context, role choir.Role, n NewProject, tar io.Reader) (choir.RepoAdded, error) {
	added := choir.RepoAdded{Name: n.Name}
	if !choir.ValidRepoName(n.Name) {
		return added, choir.Refuse("computer.repo", choir.ReasonNoProjectName, choir.TextOf("name", n.Name)).At("name")
	}
	if err := p.workspace.MustBeIdle(ctx); err != nil {
		return added, err
	}
	// Whoever sends slowly must not hold the workspace meanwhile.
	body, err := p.workspace.Spool(tar)
	if err != nil {
		return added, err
	}
	defer body.Close()
	unlock, err := p.workspace.Lock(ctx)
	if err != nil {
		return added, err
	}
	defer unlock()
	if err := p.workspace.MustBeIdle(ctx); err != nil {
		return added, err
	}
	before, client, err := p.workspace.Scan(ctx)
	if err != nil {
		return added, err
	}
	if err := p.mayReplace(ctx, client, n); err != nil {
		return added, err
	}
	// What nobody recorded yet is recorded first: it is where a failure goes back
	// to, and what a rewind finds.
	if err := p.workspace.RecordFor(ctx, before, workspace.ReasonOutside, nil); err != nil {
		return added, err
	}
	aside, err := p.clearPlace(ctx, client, n, before)
	if err == nil {
		err = p.unpackAndRecord(ctx, client, role, n, body, &added)
	}
	if err != nil {
		if undoing := p.workspace.UndoBelow(ctx, before.Root, n.folder(), aside); undoing != nil {
			err = errors.Join(err, undoing)
		}
		return added, err
	}
	_, err = p.events.Append(ctx, role, added)
	return added, err
}

// folder returns the path of the project's folder in the workspace.
func (n *NewProject) folder() string { return path.Join(Folder, n.Name) }

// mayReplace returns an error if the project's folder exists and may not be replaced.
func (p *Projects) mayReplace(ctx context.Context, client *guest.Client, n NewProject) error {
	if !n.Replace || n.Of == nil {
		return nil
	}
	if _, err := client.Stat(ctx, n.folder()); err != nil {
		return workspace.Ignore(err, choir.CodeNotFound)
	}
	by, err := p.log.BroughtBy(ctx, n.Name)
	if err != nil || slices.Contains(n.Of, by) {
		return err
	}
	return choir.Refuse("computer.repo", choir.ReasonProjectFolderThere, choir.TextOf("path", n.folder()))
}

// clearPlace moves to the trash the paths in the project's folder that no snapshot
// holds, according to the scan seen. It returns the moved paths, also with an error.
// Code conflict: a path cannot be moved. The caller holds the tree.
func (p *Projects) clearPlace(ctx context.Context, client *guest.Client, n NewProject, seen snapshot.Result) ([]workspace.Aside, error) {
	if !n.Replace {
		return nil, nil
	}
	paths := leftBelow(seen.Left, n.folder())
	out, err := p.workspace.MoveAside(ctx, client, paths)
	if err != nil {
		return nil, err
	}
	for _, left := range paths {
		_, err := client.Stat(ctx, left)
		if err == nil {
			err = choir.Refuse("computer.repo", choir.ReasonProjectNotTrashed, choir.TextOf("path", left), choir.TextOf("folder", n.folder()))
		}
		if choir.CodeOf(err) != choir.CodeNotFound {
			return out, err
		}
	}
	return out, nil
}

// leftBelow lists the paths that a scan left out at or below a path: the path itself
// when a folder above it was left out.
func leftBelow(left []string, dest string) (out []string) {
	for _, p := range left {
		if workspace.Below(dest, []string{p}) {
			return []string{dest}
		}
		if workspace.Below(p, []string{dest}) {
			out = append(out, p)
		}
	}
	return out
}

// unpackAndRecord unpacks the project, sets its facts in added, and appends the changes of the
// workspace as the role's.
func (p *Projects) unpackAndRecord(ctx context.Context, client *guest.Client, role choir.Role, n NewProject, tar io.Reader, added *choir.RepoAdded) error {
	if err := p.unpack(ctx, client, n, tar, added); err != nil {
		return err
	}
	now, err := client.Scan(ctx, p.keeper)
	if err != nil {
		return err
	}
	drafts, err := p.workspace.Record(ctx, now, "repo_added", true)
	if err != nil {
		return err
	}
	return p.workspace.AppendChanges(ctx, role, drafts)
}

// unpack unpacks the tar stream into the project's folder and sets the project's facts
// in added.
func (p *Projects) unpack(ctx context.Context, client *guest.Client, n NewProject, tar io.Reader, added *choir.RepoAdded) (err error) {
	dest := n.folder()
	if n.Replace {
		if err := client.Remove(ctx, dest, true); err != nil && choir.CodeOf(err) != choir.CodeNotFound {
			return err
		}
	}
	if added.Files, added.Bytes, err = client.Unpack(ctx, dest, tar); err != nil {
		return err
	}
	git := p.git(client, dest)
	if n.Commit != nil {
		if err := git.initHistory(ctx, *n.Commit); err != nil {
			return err
		}
	}
	added.Head, err = git.commit(ctx, "HEAD")
	return err
}

package projects

import (
	"context"
	"path"
	"slices"

	"choiros/internal/choir"
)

// known holds the log's events about a computer's projects.
type known struct {
	list    []choir.RepoAdded // the newest addition of each project
	undos   []undo            // that no rewind has gone back before
	commits []commit          // that no rewind has gone back before
	links   []Link            // of projects that came from a repository at a host
	pushes  pushes
}

// undo is one timeline.undone.
type undo struct {
	seq         uint64
	before, now choir.Digest // the workspace
}

// commit is one commit of a checkpoint.
type commit struct {
	seq  uint64
	repo string // "" for a checkpoint of the whole workspace
}

func (k known) clone() known {
	return known{slices.Clone(k.list), slices.Clone(k.undos), slices.Clone(k.commits), slices.Clone(k.links), k.pushes.clone()}
}

// add adds an event.
func (k *known) add(e *choir.Event) error {
	switch e.Type {
	case choir.TypeRepoAdded, choir.TypeTimelineUndone, choir.TypeTimelineRewound, choir.TypeCheckpointCreated,
		choir.TypeRepoLinked, choir.TypeRepoPushed, choir.TypeRepoPushFailed:
	default:
		return nil
	}
	payload, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return err
	}
	switch p := payload.(type) {
	case *choir.RepoAdded:
		k.list = withProject(k.list, *p)
		k.unlink(p.Name)
	case *choir.RepoLinked:
		k.unlink(p.Name)
		k.links = append(k.links, Link{Name: p.Name, URL: p.URL, Credential: p.Credential})
	case *choir.RepoPushed:
		k.pushes.pushed(*p)
	case *choir.RepoPushFailed:
		k.pushes.failed(*p)
	case *choir.TimelineUndone:
		k.undos = append(k.undos, undo{e.Seq, p.Before, p.Snapshot})
	case *choir.CheckpointCreated:
		if p.Trigger != "task" {
			k.commits = append(k.commits, commit{seq: e.Seq})
		}
		for _, c := range p.Commits {
			k.pushes.committed(c)
			k.commits = append(k.commits, commit{e.Seq, c.Repo})
		}
	case *choir.TimelineRewound:
		// What git has is what it had then.
		k.undos = slices.DeleteFunc(k.undos, func(u undo) bool { return u.seq > p.ToSeq })
		k.commits = slices.DeleteFunc(k.commits, func(c commit) bool { return c.seq > p.ToSeq })
	}
	return nil
}

// uncommitted returns the undos since the last commit of a project.
func (k known) uncommitted(name string) []undo {
	last := uint64(0)
	for _, c := range k.commits {
		if c.repo == name || c.repo == "" {
			last = max(last, c.seq)
		}
	}
	return slices.DeleteFunc(slices.Clone(k.undos), func(u undo) bool { return u.seq < last })
}

// mustHaveCommitted returns an error with code conflict if something in a project was taken
// back and its last commit is of before that: an export would hand it out.
func (p *Projects) mustHaveCommitted(ctx context.Context, k known, name string) error {
	for _, u := range k.uncommitted(name) {
		changed, err := p.differs(ctx, u, path.Join(Folder, name))
		if err != nil {
			return err
		}
		if changed {
			return choir.Refuse("computer.export", choir.ReasonUndoneNotCommitted, choir.TextOf("name", name))
		}
	}
	return nil
}

// differs reports whether an undo changed a folder. A tree that is kept no more may have
// been different.
func (p *Projects) differs(ctx context.Context, u undo, folder string) (bool, error) {
	var at [2]choir.Digest
	for i, root := range []choir.Digest{u.before, u.now} {
		e, err := p.workspace.Lookup(ctx, root, folder)
		switch {
		case choir.CodeOf(err) == choir.CodeNotFound:
			return true, nil
		case err != nil:
			return false, err
		case e != nil:
			at[i] = e.Digest()
		}
	}
	return at[0] != at[1], nil
}

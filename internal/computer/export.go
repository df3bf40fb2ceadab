package computer

import (
	"context"
	"io"
	"path"
	"slices"
	"sync"

	"choiros/internal/choir"
)

// ExportRepo writes the work on a project since it was added: a git bundle with
// the branch, or a mailbox of patches. Code not_found when there is none.
func (c *Computer) ExportRepo(ctx context.Context, role choir.Role, name, format string, w io.Writer) error {
	if !choir.ValidRepoName(name) {
		return choir.Invalid("name", "%q is not the name of a project", name)
	}
	if format != "bundle" && format != "patch" {
		return choir.Invalid("format", "must be bundle or patch, not %q", format)
	}
	base, err := c.repoBase(ctx, name)
	if err != nil {
		return err
	}
	client, err := c.roles.Guest(ctx)
	if err != nil {
		return err
	}
	dir := path.Join(projects, name)
	head, err := gitHead(ctx, client, dir)
	if err != nil {
		return err
	}
	if head == "" || head == base {
		return choir.E("computer.export", choir.CodeNotFound, "project %s has no work to export: nothing was committed since it was added", name)
	}
	if base != "" {
		// A history that was written anew leaves nothing to compare with.
		if base, err = gitCommit(ctx, client, dir, base); err != nil {
			return err
		}
	}
	args := exportArgs(format, base)
	var stderr words
	code, err := runGit(ctx, client, dir, w, &stderr, nil, args...)
	if err != nil {
		return err
	}
	if code != 0 {
		return choir.E("computer.export", choir.CodeConflict, "git %s in project %s failed with exit code %d: %s", args[0], name, code, stderr.String())
	}
	_, err = c.events.Append(ctx, role, choir.RepoExported{Name: name, Format: format, Commit: head})
	return err
}

// exportArgs make git write everything, or what came after a commit.
func exportArgs(format, base string) []string {
	args := []string{"bundle", "create", "-", "HEAD", "--branches"}
	if format == "patch" {
		args = []string{"format-patch", "--stdout", "--binary", "--full-index"}
	}
	switch {
	case base == "" && format == "patch":
		return append(args, "--root", "HEAD")
	case format == "patch":
		return append(args, base+"..HEAD")
	case base != "":
		return append(args, "^"+base)
	}
	return args
}

// repoIndex is what the log says of projects, as far as it was read.
type repoIndex struct {
	mu   sync.Mutex // guards what follows; not held while the log is read
	upTo uint64
	list []choir.RepoAdded // never changed in place
}

func (x *repoIndex) get() (uint64, []choir.RepoAdded) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.upTo, x.list
}

// set keeps whoever read furthest.
func (x *repoIndex) set(upTo uint64, list []choir.RepoAdded) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if upTo > x.upTo {
		x.upTo, x.list = upTo, list
	}
}

// Repos lists the projects that were added, newest state of each.
func (c *Computer) Repos(ctx context.Context) ([]choir.RepoAdded, error) {
	after, list := c.projects.get()
	list = slices.Clone(list)
	for e, err := range c.store.Events(ctx, after+1, 0) {
		if err != nil {
			return nil, err
		}
		after = e.Seq
		if e.Type != choir.TypeRepoAdded {
			continue
		}
		p, err := choir.ReadPayload(e.Type, e.Payload)
		if err != nil {
			return nil, err
		}
		list = withRepo(list, *p.(*choir.RepoAdded))
	}
	c.projects.set(after, list)
	return slices.Clone(list), nil
}

func withRepo(list []choir.RepoAdded, added choir.RepoAdded) []choir.RepoAdded {
	if i := slices.IndexFunc(list, func(r choir.RepoAdded) bool { return r.Name == added.Name }); i >= 0 {
		list[i] = added
		return list
	}
	return append(list, added)
}

// repoBase is the commit a project came with.
func (c *Computer) repoBase(ctx context.Context, name string) (string, error) {
	repos, err := c.Repos(ctx)
	if err != nil {
		return "", err
	}
	for _, r := range repos {
		if r.Name == name {
			return r.Head, nil
		}
	}
	return "", choir.E("computer.repo", choir.CodeNotFound, "there is no project %q", name).WithRemedy("choir repo list shows the projects")
}

// mustHaveProject refuses the name of a project that the workspace does not have.
func (c *Computer) mustHaveProject(ctx context.Context, name string) error {
	if !choir.ValidRepoName(name) {
		return choir.Invalid("repo", "%q is not the name of a project", name)
	}
	folder := path.Join(projects, name)
	for _, prefix := range []string{folder, folder + "/"} {
		found, err := c.store.Files(ctx, 0, prefix, 1, "")
		if err != nil {
			return err
		}
		if len(found) == 1 && (found[0].Path == folder || prefix != folder) {
			return nil
		}
	}
	e := choir.E("computer.repo", choir.CodeNotFound, "there is no project %q in the workspace", name).WithRemedy("choir repo list shows the projects")
	e.Path = "repo"
	return e
}

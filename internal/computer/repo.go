package computer

import (
	"bytes"
	"context"
	"io"
	"path"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// projects is where people's own projects live, below the workspace.
const projects = "workspace"

// layOut makes the folders of a fresh workspace.
func (c *Computer) layOut(ctx context.Context, client *guest.Client) error {
	for _, dir := range []string{"choiros", "artifacts", projects} {
		if err := client.Mkdir(ctx, dir, 0o755); err != nil && choir.CodeOf(err) != choir.CodeConflict {
			return err
		}
	}
	return nil
}

// NewRepo is a project to be added.
type NewRepo struct {
	Name    string
	Replace bool // a project of that name is replaced, else it is code conflict
	// Commit, when given, makes a repository of the project with one commit of
	// everything in it at that time.
	Commit *FirstCommit
}

// FirstCommit begins a history.
type FirstCommit struct {
	Message string
	At      time.Time
}

// AddRepo unpacks a tar stream as a project under workspace/ and records it.
func (c *Computer) AddRepo(ctx context.Context, role choir.Role, r NewRepo, tar io.Reader) (choir.RepoAdded, error) {
	added := choir.RepoAdded{Name: r.Name}
	if !choir.ValidRepoName(r.Name) {
		return added, choir.Invalid("name", "%q cannot be the name of a project: letters, digits, dot, dash and underscore, not starting with a dot", r.Name)
	}
	if open, err := c.store.OpenTasks(ctx); err != nil || len(open) > 0 && r.Replace {
		return added, errorsJoin(choir.E("computer.repo", choir.CodeConflict, "a task is running in the workspace").WithRemedy("wait for it, or stop its run: choir run ID --cancel"), err)
	}
	unlock, err := c.lockTree(ctx)
	if err != nil {
		return added, err
	}
	defer unlock()
	client, err := c.seats[choir.RoleAssociate].guest(ctx)
	if err != nil {
		return added, err
	}
	if err := c.unpack(ctx, client, r, tar, &added); err != nil {
		return added, err
	}
	now, err := client.Scan(ctx, c.keeper)
	if err != nil {
		return added, err
	}
	drafts, err := c.record(ctx, now, "repo_added", true)
	if err != nil {
		return added, err
	}
	if err := c.appendAll(ctx, choir.RoleControl, drafts); err != nil {
		return added, err
	}
	_, err = c.append(ctx, role, added)
	return added, err
}

func (c *Computer) unpack(ctx context.Context, client *guest.Client, r NewRepo, tar io.Reader, added *choir.RepoAdded) (err error) {
	dest := path.Join(projects, r.Name)
	if r.Replace {
		if err := client.Remove(ctx, dest, true); err != nil && choir.CodeOf(err) != choir.CodeNotFound {
			return err
		}
	}
	if added.Files, added.Bytes, err = client.Unpack(ctx, dest, tar); err != nil {
		return err
	}
	if r.Commit != nil {
		if err := beginHistory(ctx, client, dest, *r.Commit); err != nil {
			return err
		}
	}
	added.Head, err = gitHead(ctx, client, dest)
	return err
}

// beginHistory makes a repository of a folder, inside the sandbox.
func beginHistory(ctx context.Context, client *guest.Client, dir string, first FirstCommit) error {
	date := first.At.UTC().Format(time.RFC3339)
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"}, {"add", "--all"},
		{"-c", "user.name=ChoirOS", "-c", "user.email=choir@localhost", "commit", "--quiet", "--no-verify", "--date=" + date, "-m", first.Message},
	} {
		var out bytes.Buffer
		code, err := runGit(ctx, client, dir, &out, &out, []string{"GIT_COMMITTER_DATE=" + date}, args...)
		if err != nil {
			return err
		}
		if code != 0 {
			return choir.E("computer.repo", choir.CodeInternal, "git %s failed with exit code %d: %s", args[0], code, strings.TrimSpace(out.String()))
		}
	}
	return nil
}

// gitHead asks git, inside the sandbox, what is checked out; empty when the
// project has no commit or no repository.
func gitHead(ctx context.Context, client *guest.Client, dir string) (string, error) {
	var out bytes.Buffer
	code, err := runGit(ctx, client, dir, &out, nil, nil, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil || code != 0 {
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}

// runGit runs git inside the Associate's sandbox.
func runGit(ctx context.Context, client *guest.Client, dir string, stdout, stderr io.Writer, env []string, args ...string) (int, error) {
	// A nested project must not fall through to the repository around it.
	argv := append([]string{"git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-C", path.Join(sandbox.WorkspaceInside, dir)}, args...)
	p, err := client.Exec(ctx, guest.ExecSpec{Argv: argv, Cwd: sandbox.WorkspaceInside, Env: append(env, "GIT_CEILING_DIRECTORIES="+path.Join(sandbox.WorkspaceInside, path.Dir(dir)), "GIT_TERMINAL_PROMPT=0")})
	if err != nil {
		return 0, err
	}
	exit, err := p.Wait(stdout, stderr)
	return exit.Code, err
}

// ExportRepo writes the work on a project since it was added: a git bundle with
// the branch, or a mailbox of patches. Code not_found when there is none.
func (c *Computer) ExportRepo(ctx context.Context, role choir.Role, name, format string, w io.Writer) error {
	if !choir.ValidRepoName(name) {
		return choir.Invalid("name", "%q is not the name of a project", name)
	}
	client, err := c.seats[choir.RoleAssociate].guest(ctx)
	if err != nil {
		return err
	}
	dir := path.Join(projects, name)
	head, err := gitHead(ctx, client, dir)
	if err != nil {
		return err
	}
	base, err := c.repoBase(ctx, name)
	if err != nil {
		return err
	}
	if head == "" || head == base {
		return choir.E("computer.export", choir.CodeNotFound, "project %s has no work to export: nothing was committed since it was added", name)
	}
	var args []string
	switch {
	case format == "patch" && base != "":
		args = []string{"format-patch", "--stdout", "--binary", "--full-index", base + "..HEAD"}
	case format == "patch":
		args = []string{"format-patch", "--stdout", "--binary", "--full-index", "--root", "HEAD"}
	case format == "bundle" && base != "":
		args = []string{"bundle", "create", "-", "HEAD", "--branches", "^" + base}
	case format == "bundle":
		args = []string{"bundle", "create", "-", "HEAD", "--branches"}
	default:
		return choir.Invalid("format", "must be bundle or patch, not %q", format)
	}
	var stderr bytes.Buffer
	code, err := runGit(ctx, client, dir, w, &stderr, nil, args...)
	if err != nil {
		return err
	}
	if code != 0 {
		return choir.E("computer.export", choir.CodeInternal, "git %s in project %s failed with exit code %d: %s", args[0], name, code, strings.TrimSpace(stderr.String()))
	}
	_, err = c.append(ctx, role, choir.RepoExported{Name: name, Format: format, Commit: head})
	return err
}

// Repos lists the projects that were added, newest state of each.
func (c *Computer) Repos(ctx context.Context) ([]choir.RepoAdded, error) {
	var out []choir.RepoAdded
	index := map[string]int{}
	for after := uint64(0); ; {
		events, err := c.store.EventsAfter(ctx, after, choir.MaxEventsAfter)
		if err != nil || len(events) == 0 {
			return out, err
		}
		for _, e := range events {
			after = e.Seq
			if e.Type != "repo.added" {
				continue
			}
			p, err := choir.DecodePayload(e.Type, e.Payload)
			if err != nil {
				return nil, err
			}
			added := *p.(*choir.RepoAdded)
			if i, ok := index[added.Name]; ok {
				out[i] = added
				continue
			}
			index[added.Name] = len(out)
			out = append(out, added)
		}
	}
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

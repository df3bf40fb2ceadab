package computer

import (
	"context"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/selfsource"
	"choiros/internal/computer/workspace"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/snapshot"
)

// projects is where people's own projects live, below the workspace.
const projects = "workspace"

// layOut makes the folders of a fresh workspace.
func (c *Computer) layOut(ctx context.Context, client *guest.Client) error {
	if err := c.source.Ship(ctx, client); err != nil {
		return err
	}
	for _, dir := range []string{selfsource.Folder, "artifacts", projects} {
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
	// Of, when given, are the sources whose project may be replaced, by the newest
	// repo.added of that name. Anything else at its place is code conflict.
	Of []choir.Source
	// Commit, when given, makes a repository of the project with one commit of
	// everything in it at that time.
	Commit *FirstCommit
}

// FirstCommit begins a history.
type FirstCommit struct {
	Message string
	At      time.Time
}

// AddRepo unpacks a tar stream as a project under workspace/ and records it. It
// is refused while a task works, because that task's rollback would take the
// project away again. What it replaces is in the moment before; what no moment
// holds goes to the trash. Whatever fails leaves the workspace as it was.
func (c *Computer) AddRepo(ctx context.Context, role choir.Role, r NewRepo, tar io.Reader) (choir.RepoAdded, error) {
	added := choir.RepoAdded{Name: r.Name}
	if !choir.ValidRepoName(r.Name) {
		return added, choir.Invalid("name", "%q cannot be the name of a project: letters, digits, dot, dash and underscore, not starting with a dot", r.Name)
	}
	if err := c.workspace.MustBeIdle(ctx); err != nil {
		return added, err
	}
	// Whoever sends slowly must not hold the workspace meanwhile.
	body, err := c.workspace.Spool(tar)
	if err != nil {
		return added, err
	}
	defer body.Close()
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return added, err
	}
	defer unlock()
	if err := c.workspace.MustBeIdle(ctx); err != nil {
		return added, err
	}
	before, client, err := c.workspace.Scan(ctx)
	if err != nil {
		return added, err
	}
	if err := c.mayReplace(ctx, client, r); err != nil {
		return added, err
	}
	// What nobody recorded yet is recorded first: it is where a failure goes back
	// to, and what a rewind finds.
	if err := c.workspace.RecordFor(ctx, before, workspace.ReasonOutside, nil); err != nil {
		return added, err
	}
	aside, err := c.clearPlace(ctx, client, r, before)
	if err == nil {
		err = c.bringIn(ctx, client, role, r, body, &added)
	}
	if err != nil {
		return added, errorsJoin(err, c.workspace.UndoBelow(ctx, before.Root, r.place(), aside))
	}
	_, err = c.events.Append(ctx, role, added)
	return added, err
}

// place is the folder of the project.
func (r *NewRepo) place() string { return path.Join(projects, r.Name) }

// mayReplace refuses a project at whose place is something that it may not replace.
func (c *Computer) mayReplace(ctx context.Context, client *guest.Client, r NewRepo) error {
	if !r.Replace || r.Of == nil {
		return nil
	}
	if _, err := client.Stat(ctx, r.place()); err != nil {
		return workspace.Ignore(err, choir.CodeNotFound)
	}
	by, err := c.store.BroughtBy(ctx, r.Name)
	if err != nil || slices.Contains(r.Of, by) {
		return err
	}
	return choir.E("computer.repo", choir.CodeConflict, "there is a %s already, which would be replaced", r.place()).
		WithRemedy("rename or move %s, and try again", r.place())
}

// clearPlace moves to the trash what no moment holds, by a look, at or below the
// place of a project that is to be replaced. What was moved is returned with an error
// too; code conflict when something cannot be moved. The caller holds the tree.
func (c *Computer) clearPlace(ctx context.Context, client *guest.Client, r NewRepo, seen snapshot.Result) ([]workspace.Aside, error) {
	if !r.Replace {
		return nil, nil
	}
	paths := leftBelow(seen.Left, r.place())
	out, err := c.workspace.MoveAside(ctx, client, paths)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		_, err := client.Stat(ctx, p)
		if err == nil {
			err = choir.E("computer.repo", choir.CodeConflict, "%s cannot be moved to the trash, and no moment holds it", p).
				WithRemedy("move it out of %s, and try again", r.place())
		}
		if choir.CodeOf(err) != choir.CodeNotFound {
			return out, err
		}
	}
	return out, nil
}

// leftBelow lists what a look left out at or below a path: the path itself when a
// folder above it was left out.
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

// bringIn unpacks the project and records what that changed, as changed by the role.
func (c *Computer) bringIn(ctx context.Context, client *guest.Client, role choir.Role, r NewRepo, tar io.Reader, added *choir.RepoAdded) error {
	if err := c.unpack(ctx, client, r, tar, added); err != nil {
		return err
	}
	now, err := client.Scan(ctx, c.keeper)
	if err != nil {
		return err
	}
	drafts, err := c.workspace.Record(ctx, now, "repo_added", true)
	if err != nil {
		return err
	}
	return c.workspace.AppendChanges(ctx, role, drafts)
}

func (c *Computer) unpack(ctx context.Context, client *guest.Client, r NewRepo, tar io.Reader, added *choir.RepoAdded) (err error) {
	dest := r.place()
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
		var out words
		code, err := runGit(ctx, client, dir, &out, &out, []string{"GIT_COMMITTER_DATE=" + date}, args...)
		if err != nil {
			return err
		}
		if code != 0 {
			return choir.E("computer.repo", choir.CodeInternal, "git %s failed with exit code %d: %s", args[0], code, out.String())
		}
	}
	return nil
}

// gitHead asks git, inside the sandbox, what is checked out; empty when the
// project has no commit or no repository.
func gitHead(ctx context.Context, client *guest.Client, dir string) (string, error) {
	return gitCommit(ctx, client, dir, "HEAD")
}

// gitCommit asks git, inside the sandbox, which commit a name is; empty for none.
func gitCommit(ctx context.Context, client *guest.Client, dir, name string) (string, error) {
	var out words
	code, err := runGit(ctx, client, dir, &out, nil, nil, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	// The program that answers is in the sandbox, so its answer is checked.
	if commit := out.String(); err == nil && code == 0 && objectName.MatchString(commit) {
		return commit, nil
	}
	return "", err
}

// objectName is a commit's name, SHA-1 or SHA-256.
var objectName = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// gitLimit is how long one git command may take. A repository can make git wait
// for ever, with a fifo in the place of a file.
const gitLimit = 2 * time.Minute

// words keep the beginning of what a command in a sandbox says.
type words struct{ b []byte }

func (w *words) Write(b []byte) (int, error) {
	const most = 4 << 10
	w.b = append(w.b, b[:min(len(b), most-len(w.b))]...)
	return len(b), nil
}

func (w *words) String() string { return strings.TrimSpace(strings.ToValidUTF8(string(w.b), "?")) }

// runGit runs git inside the Associate's sandbox.
func runGit(ctx context.Context, client *guest.Client, dir string, stdout, stderr io.Writer, env []string, args ...string) (int, error) {
	// A nested project must not fall through to the repository around it.
	// Nothing of it goes on in the background, where a snapshot would meet it.
	argv := append([]string{"git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"-C", path.Join(sandbox.WorkspaceInside, dir)}, args...)
	p, err := client.Exec(ctx, guest.ExecSpec{Argv: argv, Cwd: sandbox.WorkspaceInside, TimeoutMS: gitLimit.Milliseconds(), Env: append(env, "GIT_CEILING_DIRECTORIES="+path.Join(sandbox.WorkspaceInside, path.Dir(dir)), "GIT_TERMINAL_PROMPT=0")})
	if err != nil {
		return 0, err
	}
	exit, err := p.Wait(stdout, stderr)
	if err == nil && exit.TimedOut {
		err = choir.E("computer.git", choir.CodeTimeout, "git %s did not end within %s", args[0], gitLimit)
	}
	return exit.Code, err
}

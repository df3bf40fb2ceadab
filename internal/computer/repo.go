package computer

import (
	"context"
	"io"
	"path"
	"regexp"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/snapshot"
)

// projects is where people's own projects live, below the workspace.
const projects = "workspace"

// prepareWorkspace lays out the workspace of a sandbox that starts and looks at it.
// The one of a recovered sandbox is left as it is, because a task may be at work in
// it, unless the control plane was killed before it had ever looked.
func (c *Computer) prepareWorkspace(ctx context.Context, l *live, recovered bool) error {
	if err := c.furnish(ctx, l.client); err != nil {
		return err
	}
	last, err := c.lastSnapshot(ctx)
	if err == nil && (!recovered || last == "") {
		err = c.layOut(ctx, l.client)
	}
	if err != nil {
		return err
	}
	return c.lookFirst(ctx, l, recovered)
}

// layOut makes the folders of a fresh workspace.
func (c *Computer) layOut(ctx context.Context, client *guest.Client) error {
	if err := c.shipSource(ctx, client); err != nil {
		return err
	}
	for _, dir := range []string{Source, "artifacts", projects} {
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

// AddRepo unpacks a tar stream as a project under workspace/ and records it. It
// is refused while a task works, because that task's rollback would take the
// project away again. Whatever fails leaves the workspace as it was.
func (c *Computer) AddRepo(ctx context.Context, role choir.Role, r NewRepo, tar io.Reader) (choir.RepoAdded, error) {
	added := choir.RepoAdded{Name: r.Name}
	if !choir.ValidRepoName(r.Name) {
		return added, choir.Invalid("name", "%q cannot be the name of a project: letters, digits, dot, dash and underscore, not starting with a dot", r.Name)
	}
	if err := c.mustBeIdle(ctx); err != nil {
		return added, err
	}
	// Whoever sends slowly must not hold the workspace meanwhile.
	body, err := c.spool(tar)
	if err != nil {
		return added, err
	}
	defer body.Close()
	unlock, err := c.lockTree(ctx)
	if err != nil {
		return added, err
	}
	defer unlock()
	if err := c.mustBeIdle(ctx); err != nil {
		return added, err
	}
	before, client, err := c.scan(ctx)
	if err != nil {
		return added, err
	}
	// What nobody recorded yet is recorded first: it is where a failure goes back
	// to, and what a rewind finds.
	if err := c.recordFor(ctx, before, "changed_outside", nil); err != nil {
		return added, err
	}
	if err := c.bringIn(ctx, client, r, body, &added); err != nil {
		return added, errorsJoin(err, c.undo(ctx, before.Root, path.Join(projects, r.Name)))
	}
	_, err = c.append(ctx, role, added)
	return added, err
}

// undo puts a path, and what is below it, back to what it was, even when whoever
// asked for the change has gone. The caller holds the tree.
func (c *Computer) undo(ctx context.Context, before choir.Digest, dest string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	now, client, err := c.scan(ctx)
	if err != nil {
		return err
	}
	changes, err := snapshot.Diff(ctx, c.keeper, before, now.Root)
	if err != nil {
		return err
	}
	var only []string
	for _, ch := range snapshot.Apart(changes) {
		// The folder above is part of it: its time moved.
		if below(ch.Path, []string{dest}) || ch.Path == parent(dest) {
			only = append(only, ch.Path)
		}
	}
	if len(only) == 0 {
		return nil
	}
	_, err = c.restoreTree(ctx, client, before, guest.RestoreOptions{Only: only, Narrow: true})
	return err
}

// bringIn unpacks the project and records what that changed.
func (c *Computer) bringIn(ctx context.Context, client *guest.Client, r NewRepo, tar io.Reader, added *choir.RepoAdded) error {
	if err := c.unpack(ctx, client, r, tar, added); err != nil {
		return err
	}
	now, err := client.Scan(ctx, c.keeper)
	if err != nil {
		return err
	}
	drafts, err := c.record(ctx, now, "repo_added", true)
	if err != nil {
		return err
	}
	return c.appendAll(ctx, choir.RoleControl, drafts)
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

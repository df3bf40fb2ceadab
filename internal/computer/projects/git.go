package projects

import (
	"context"
	"io"
	"path"
	"regexp"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
)

// repository is a folder of the workspace on which git runs, in the sandbox.
type repository struct {
	client *guest.Client
	inside string // where the sandbox has the workspace
	folder string // below the workspace's root
}

// git returns the repository in a folder of the workspace.
func (p *Projects) git(client *guest.Client, folder string) repository {
	return repository{client: client, inside: p.inside, folder: folder}
}

// initHistory makes the folder a git repository with one commit.
func (r repository) initHistory(ctx context.Context, first FirstCommit) error {
	date := first.At.UTC().Format(time.RFC3339)
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"}, {"add", "--all"},
		{"-c", "user.name=ChoirOS", "-c", "user.email=choir@localhost", "commit", "--quiet", "--no-verify", "--date=" + date, "-m", first.Message},
	} {
		var out words
		code, err := r.run(ctx, &out, &out, []string{"GIT_COMMITTER_DATE=" + date}, args...)
		if err != nil {
			return err
		}
		if code != 0 {
			return choir.E("computer.repo", choir.CodeInternal, "git %s failed with exit code %d: %s", args[0], code, out.String())
		}
	}
	return nil
}

// commit resolves a git revision to a commit; empty if there is no such revision or no
// repository.
func (r repository) commit(ctx context.Context, name string) (string, error) {
	var out words
	code, err := r.run(ctx, &out, nil, nil, "rev-parse", "--verify", "--quiet", name+"^{commit}")
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

// words keeps the beginning of a command's output.
type words struct{ b []byte }

func (w *words) Write(b []byte) (int, error) {
	const most = 4 << 10
	w.b = append(w.b, b[:min(len(b), most-len(w.b))]...)
	return len(b), nil
}

func (w *words) String() string { return strings.TrimSpace(strings.ToValidUTF8(string(w.b), "?")) }

// run runs git in the folder and returns its exit code. Code timeout when git did not end
// within gitLimit.
func (r repository) run(ctx context.Context, stdout, stderr io.Writer, env []string, args ...string) (int, error) {
	return r.runWithin(ctx, gitLimit, stdout, stderr, env, args...)
}

// runWithin is run with another limit of time.
func (r repository) runWithin(ctx context.Context, limit time.Duration, stdout, stderr io.Writer, env []string, args ...string) (int, error) {
	// A nested project must not fall through to the repository around it.
	// Nothing of it goes on in the background, where a snapshot would meet it.
	argv := append([]string{"git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"-C", path.Join(r.inside, r.folder)}, args...)
	p, err := r.client.Exec(ctx, guest.ExecSpec{Argv: argv, Cwd: r.inside, TimeoutMS: limit.Milliseconds(), Env: append(env, "GIT_CEILING_DIRECTORIES="+path.Join(r.inside, path.Dir(r.folder)), "GIT_TERMINAL_PROMPT=0")})
	if err != nil {
		return 0, err
	}
	exit, err := p.Wait(stdout, stderr)
	if err == nil && exit.TimedOut {
		err = choir.Refuse("computer.git", choir.ReasonGitSlow, choir.TextOf("command", args[0]), choir.SecondsOf("span", limit))
	}
	return exit.Code, err
}

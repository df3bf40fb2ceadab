// Package git is what the Associate does with git, inside the sandbox: commits
// of known changes, diffs, ignore rules and the actions of git tasks. Hooks are
// never run. It uses plumbing on the paths that changed and never looks at the
// whole tree, so a checkpoint costs about the same in a large repository as in a
// small one. A small change to a plain repository is committed without git.
package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"choiros/internal/associate/proctree"
	"choiros/internal/choir"
)

// Git runs git below a task's process tree.
type Git struct {
	Tree *proctree.Tree
	Env  []string // of the commands; git's own variables are added
	Temp string   // folder for scratch files, outside the workspace

	runs atomic.Int64
}

// Runs is how many times git was started. While it stands still no program ran,
// not even a filter of a repository's.
func (g *Git) Runs() int64 { return g.runs.Load() }

// Identity of the commits.
const (
	authorName  = "Choir Associate"
	authorEmail = "associate@choir.invalid"
)

// fixed settings: nothing of the repository's configuration makes git run
// hooks or a monitor, or start work of its own in the background.
var fixed = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0",
	"-c", "maintenance.auto=false", "-c", "commit.gpgSign=false", "-c", "core.quotePath=true",
}

// Env is the environment under which git knows who works here; for the
// commands of a task too.
func Env() []string {
	return []string{
		"GIT_AUTHOR_NAME=" + authorName, "GIT_AUTHOR_EMAIL=" + authorEmail,
		"GIT_COMMITTER_NAME=" + authorName, "GIT_COMMITTER_EMAIL=" + authorEmail,
		"GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat",
	}
}

// failed is a git that ended with an exit code.
type failed struct {
	args []string
	code int
	text string
}

func (f *failed) Error() string {
	return fmt.Sprintf("git %s: exit %d: %s", strings.Join(f.args, " "), f.code, f.text)
}

// run runs git in a folder and returns its standard output; a *failed error
// when it ends with an exit code.
func (g *Git) run(ctx context.Context, dir string, stdin []byte, args ...string) ([]byte, error) {
	return g.runWith(ctx, dir, nil, stdin, args...)
}

// runWith is run with more variables in the environment.
func (g *Git) runWith(ctx context.Context, dir string, more []string, stdin []byte, args ...string) ([]byte, error) {
	in, err := g.scratch(stdin)
	if err != nil {
		return nil, err
	}
	if in != nil {
		defer in.Close()
	}
	var out, errOut buffer
	env := append(append(g.Env[:len(g.Env):len(g.Env)], Env()...),
		"GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	env = append(env, more...)
	argv := append(append([]string{"git"}, fixed...), args...)
	g.runs.Add(1)
	exit, err := g.Tree.Run(ctx, proctree.Spec{Argv: argv, Dir: dir, Env: env, Stdin: in, Stdout: &out, Stderr: &errOut})
	if err != nil {
		return nil, choir.Wrap("git", "", err, "run git %s", args[0])
	}
	if exit.Code != 0 {
		return out.Bytes(), &failed{args, exit.Code, clip(errOut.String() + exit.Signal)}
	}
	return out.Bytes(), nil
}

// scratch keeps input in a file without a name.
func (g *Git) scratch(content []byte) (*os.File, error) {
	if content == nil {
		return nil, nil
	}
	f, err := os.CreateTemp(g.Temp, "git-")
	if err != nil {
		return nil, choir.Wrap("git", choir.CodeNoSpace, err, "make a scratch file")
	}
	_ = os.Remove(f.Name()) // a name left behind in the scratch folder does no harm
	if _, err = f.Write(content); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, choir.Wrap("git", choir.CodeNoSpace, err, "write a scratch file")
	}
	return f, nil
}

// buffer is a sink that keeps everything.
type buffer struct{ bytes.Buffer }

// Idle implements proctree.Sink.
func (*buffer) Idle() {}

func clip(s string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > 500 {
		return s[:500] + "..."
	}
	return s
}

// isRepo reports whether a folder has a repository of its own. A .git file (a
// worktree, a submodule) counts.
func isRepo(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

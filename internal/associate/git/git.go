// Package git does the Associate's work with git inside the sandbox: commits of known
// changes, diffs, ignore rules and the actions of git tasks. It never runs hooks. It uses
// plumbing on the changed paths and does not scan the whole tree, so a checkpoint costs
// about the same in a large repository as in a small one. A small change to an ordinary
// repository is committed without starting git.
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

// Git runs git commands in a task's process tree.
type Git struct {
	Tree *proctree.Tree
	Env  []string // environment of commands; the variables of Env are added
	Temp string   // folder for scratch files, outside the workspace

	runs atomic.Int64
}

// Runs returns how often git was started. If it is unchanged, no program has run, not even
// a filter of a repository.
func (g *Git) Runs() int64 { return g.runs.Load() }

// The author and committer of the Associate's commits.
const (
	authorName  = "Choir Associate"
	authorEmail = "associate@choir.invalid"
)

// fixed are options of every git command: they disable hooks, monitors and background
// work, whatever the repository's configuration says.
var fixed = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0",
	"-c", "maintenance.auto=false", "-c", "commit.gpgSign=false", "-c", "core.quotePath=true",
}

// Env returns the environment variables that tell git author and committer and disable
// prompts and pager. A task's own commands get them too.
func Env() []string {
	return []string{
		"GIT_AUTHOR_NAME=" + authorName, "GIT_AUTHOR_EMAIL=" + authorEmail,
		"GIT_COMMITTER_NAME=" + authorName, "GIT_COMMITTER_EMAIL=" + authorEmail,
		"GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat",
	}
}

// failed is the error of a git command that exited with a non-zero code.
type failed struct {
	args []string
	code int
	text string
}

func (f *failed) Error() string {
	return fmt.Sprintf("git %s: exit %d: %s", strings.Join(f.args, " "), f.code, f.text)
}

// run runs git in a folder and returns its standard output; stdin may be nil. The error
// is a *failed if git exits with a non-zero code.
func (g *Git) run(ctx context.Context, dir string, stdin []byte, args ...string) ([]byte, error) {
	return g.runWith(ctx, dir, nil, stdin, args...)
}

// runWith runs git like run, with the environment variables of more added.
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

// scratch returns an unlinked temporary file with content, at its start; nil for nil.
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

// buffer is a proctree.Sink that keeps all output.
type buffer struct{ bytes.Buffer }

// Idle implements proctree.Sink.
func (*buffer) Idle() {}

// clip returns s trimmed and cut to 500 bytes.
func clip(s string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > 500 {
		return s[:500] + "..."
	}
	return s
}

// isRepo reports whether a folder has an own .git, as a folder or, as in a worktree or
// submodule, as a file.
func isRepo(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

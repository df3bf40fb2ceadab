package taskrunner

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"choiros/internal/associate/git"
	"choiros/internal/associate/proctree"
	"choiros/internal/associate/scope"
	"choiros/internal/associate/verify"
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// place is where a task works: in its project, in the workspace, or in a copy of one of them.
// A task may move from a copy to its project while it is executed.
type place struct {
	scopes    *scope.Set
	workspace string
	env       []string // of git, and where programs are looked for
	life      context.Context
	task      choir.ID
	repo      string // the task's project, "" for the whole workspace
	worktree  bool   // the task asks for a copy

	scope  *scope.Scope // its folder and processes; nil before open
	git    *git.Git     // runs in scope
	aside  bool         // it works and commits in a copy, as its result may be held
	online bool         // the task may reach hosts outside

	// What its processes used, as far as they have ended: processor time, and memory in bytes.
	cpuMS, maxRSS int64
}

// open opens the scope of the task: in a copy of its project for one with worktree, where
// the kernel can confine commands to that; else, and where the project cannot be copied, in
// the project or the workspace.
func (p *place) open() error {
	if p.worktree && proctree.Confines() {
		sc, err := p.scopes.OpenWorktree(p.life, p.task, p.repo)
		if err == nil {
			p.use(sc)
		}
		if err == nil || p.life.Err() != nil {
			return err
		}
	}
	sc, err := p.scopes.Open(p.repo)
	if err == nil {
		p.use(sc)
	}
	return err
}

// use has the task work in a scope.
func (p *place) use(sc *scope.Scope) {
	p.scope = sc
	p.git = &git.Git{Tree: sc.Tree(), Env: p.env, Temp: sc.Temp}
}

// moveAside closes the scope and opens one in a whole copy of the project or of the workspace.
// copied is false, and nothing has changed, if the place cannot be copied.
func (p *place) moveAside() (copied bool, err error) {
	inCopy, err := p.scopes.OpenCopy(p.life, p.task, p.repo)
	if p.life.Err() != nil {
		return false, context.Cause(p.life)
	}
	if err != nil {
		return false, nil
	}
	inPlace := p.scope
	p.use(inCopy)
	p.aside = true
	return true, inPlace.Close()
}

// moveToProject ends the scope of the worktree and opens one in the project.
func (p *place) moveToProject() error {
	inProject, err := p.scopes.Open(p.repo)
	if err != nil {
		return err
	}
	err = p.scope.Close()
	p.use(inProject)
	p.aside = false
	return err
}

// close ends the scope, unless it is a copy in which the task works that is aside.
func (p *place) close() {
	if !p.aside {
		p.scope.Close() // a process that does not end was the task's failure already, see conclude
	}
}

// closeCopy removes the copy in which a task works that is aside. The task's result must have been
// appended before: the control plane reads in the copy the change that it is to hold.
func (p *place) closeCopy() {
	if p.aside {
		p.scope.Close() // a process that does not end was the task's failure already, see conclude
	}
}

// isLost reports whether the process that runs the task's commands was killed.
func (p *place) isLost() bool { return p.scope != nil && p.scope.Tree().Lost() }

// clear kills every process of the task and counts what they used. It returns an error if one
// cannot be killed.
func (p *place) clear() error {
	used, err := p.scope.Clear()
	p.cpuMS += used.CPU.Milliseconds()
	p.maxRSS = max(p.maxRSS, used.MaxRSS)
	return err
}

// repository returns the folder, below the workspace, of the repository that the task's
// root belongs to, "." for the workspace's own.
func (p *place) repository() string {
	if p.repo == "" {
		return "."
	}
	return git.RepoOf(p.commitTop(), "workspace/"+p.repo)
}

// commitTop returns the tree in which the task's commits are made: the workspace, or the
// copy of a task that is aside.
func (p *place) commitTop() string {
	if p.aside {
		return p.scope.Top
	}
	return p.workspace
}

// repositoriesTop returns the tree in whose git repositories the task's paths lie. A copy has
// the project's own, and not the workspace's.
func (p *place) repositoriesTop() string {
	if p.aside || p.scope.Worktree && p.repository() != "." {
		return p.scope.Top
	}
	return p.workspace
}

// below returns a path below the workspace relative to the task's folder; false if it
// lies outside.
func (p *place) below(raw string) (string, bool) {
	if p.repo == "" {
		return raw, true
	}
	return strings.CutPrefix(raw, "workspace/"+p.repo+"/")
}

// withinScope returns the changes without those outside the task's folder, if the kernel
// confines the task's commands to it: such changes are not the task's. A rename across
// the boundary is split into a removal and a creation.
func (p *place) withinScope(all []snapshot.Change) []snapshot.Change {
	if !p.scope.Confined || p.repo == "" {
		return all
	}
	root := snapshot.EscapePath([]byte("workspace/" + p.repo))
	outside := func(path string) bool { return path != root && !below(path, root) }
	if !slices.ContainsFunc(all, func(ch snapshot.Change) bool { return outside(ch.Path) || ch.From != "" && outside(ch.From) }) {
		return all
	}
	return slices.DeleteFunc(snapshot.Apart(all), func(ch snapshot.Change) bool { return outside(ch.Path) })
}

// folder returns the absolute working folder of a command, with links resolved. It
// returns an error unless cwd is a folder below the task's root and in the workspace.
func (p *place) folder(cwd string) (string, error) {
	if cwd == "" {
		return p.scope.Root, nil
	}
	if !filepath.IsLocal(cwd) {
		return "", choir.Invalid("cwd", "%q is not below the task's folder", cwd)
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(p.scope.Root, cwd))
	if err != nil {
		return "", choir.Invalid("cwd", "there is no folder %q", cwd)
	}
	top, err := filepath.EvalSymlinks(p.scope.Top)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(top, dir); err != nil || !filepath.IsLocal(rel) {
		return "", choir.Invalid("cwd", "%q leads out of the workspace", cwd)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", choir.Invalid("cwd", "%q is not a folder", cwd)
	}
	return dir, nil
}

// Environment returns the environment of the task's commands in a tool call, counted from 1, or
// outside of calls (0), with the variables of more added.
func (p *place) Environment(call int, more []choir.EnvVar) []string {
	env := append(p.scope.Env(p.task, call), git.Env()...)
	if p.online {
		env = verify.LetDownload(env)
	}
	for _, v := range more {
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}

// Temp returns the task's folder for temporary files.
func (p *place) Temp() string {
	dir := os.TempDir()
	for _, kv := range p.scope.Env(p.task, 0) {
		if of, is := strings.CutPrefix(kv, "TMPDIR="); is {
			dir = of
		}
	}
	return dir
}

// FindProgram returns the path of a program as the task's commands find it.
func (p *place) FindProgram(name string) (string, error) {
	return proctree.LookPath(name, p.scope.Root, p.env)
}

// Tree returns the process that starts the task's commands.
func (p *place) Tree() *proctree.Tree { return p.scope.Tree() }

// Root returns the task's folder.
func (p *place) Root() string { return p.scope.Root }

// Confined reports that the task's commands cannot write outside of its folder.
func (p *place) Confined() bool { return p.scope.Confined }

// Package scope owns what one task has in the sandbox: its root folder, the folders that
// its commands may write to, their environment, and the processes that they leave. A
// scope is opened for a task, used by it, and closed with it.
//
// The root is a project, a copy of one (a worktree), or the whole workspace. Commands in a
// project may write in it,
// in a temporary folder, a home folder and caches that are the project's own, in shared
// memory and to devices; all else they can only read (see proctree.Confines). Each root
// has a tree process of its own, so that what double-forked stays the scope's and no
// scope can signal another's processes.
package scope

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"choiros/internal/associate/proctree"
	"choiros/internal/associate/verify"
	"choiros/internal/choir"
)

// Config configures a Set.
type Config struct {
	Workspace string   // the workspace's folder
	Scratch   string   // folder for caches and scratch files, outside the workspace
	Worktrees string   // folder of the worktrees, outside the workspace; empty for none
	Env       []string // environment of commands
	TreeArgv  []string // starts a process that calls proctree.Serve; its last arguments are added
	Lock      string   // name of a lock, unique to the workspace
	Shared    []string // folders that commands of every project may write to; optional
}

// Set opens the scopes of one workspace. Its methods are safe for concurrent use.
type Set struct {
	cfg Config

	mu   sync.Mutex // guards idle, used and lost
	idle []*trunk   // tree processes without a scope, the most recently used last
	used map[*trunk]bool
	lost bool // a tree process was killed
}

// trunk is a tree process with the root that it is confined to.
type trunk struct {
	*proctree.Tree
	place
	root os.FileInfo // the root when the process was confined to it; nil if it did not exist
}

// place says where a root is: it is the project repo, or the whole workspace if that is
// empty. With a task it is the task's copy of that.
type place struct {
	repo string
	task choir.ID
}

// maxIdle limits the tree processes kept for later tasks in their roots. Each takes
// about 4 MB of memory; starting one takes some milliseconds.
const maxIdle = 2

// NewSet returns a Set, with the tree process of the whole workspace already started, and
// removes the worktrees that a former process left. The error is that of starting it.
func NewSet(cfg Config) (*Set, error) {
	s := &Set{cfg: cfg, used: map[*trunk]bool{}}
	s.removeWorktrees()
	t, err := s.start(place{})
	if err == nil {
		s.idle = append(s.idle, t)
	}
	return s, err
}

// Scope is the root, folders and processes of one task. Its methods are safe for
// concurrent use, except Close.
type Scope struct {
	// Root is the task's folder; it may not exist.
	Root string
	// Top is the folder of the tree that Root is a part of: the workspace, or a worktree.
	Top string
	// Worktree reports that Root is a copy of a project.
	Worktree bool
	// Temp is an empty folder for scratch files of the role, outside the workspace. The
	// task's commands may write in it and cannot replace it.
	Temp string
	// Confined reports that the task's commands cannot write outside of Root, Temp, the
	// home folder, caches and shared folders.
	Confined bool

	set   *Set
	trunk *trunk
	env   []string
}

// Open returns a scope on the project repo, or on the whole workspace if repo is empty.
// The caller makes sure that the roots of open scopes do not overlap, and closes the
// scope. Code no_space: a scratch folder could not be created.
func (s *Set) Open(repo string) (*Scope, error) { return s.open(place{repo: repo}) }

func (s *Set) open(at place) (*Scope, error) {
	sc := &Scope{Root: s.root(at), Top: s.top(at), Worktree: at.task != "", Confined: !at.isWorkspace() && proctree.Confines(), set: s}
	folders := s.folders(at)
	if err := s.letIn(at, folders); err != nil {
		return nil, err
	}
	sc.Temp, sc.env = folders.role, s.environment(at, folders)
	var err error
	sc.trunk, err = s.claimTrunk(at)
	return sc, err
}

// isWorkspace reports whether a root is the workspace itself.
func (at place) isWorkspace() bool { return at == place{} }

// top returns the folder of the tree that has a root.
func (s *Set) top(at place) string {
	if at.task != "" {
		return filepath.Join(s.cfg.Worktrees, string(at.task))
	}
	return s.cfg.Workspace
}

// root returns the folder of a project, or the workspace's.
func (s *Set) root(at place) string {
	if at.repo == "" {
		return s.top(at)
	}
	return filepath.Join(s.top(at), "workspace", at.repo)
}

// claimTrunk returns a tree process for a root and marks it as used: an idle one if it fits,
// else a new one. It closes idle processes of that root that do not fit.
func (s *Set) claimTrunk(at place) (*trunk, error) {
	s.mu.Lock()
	var stale []*trunk
	var found *trunk
	kept := s.idle[:0]
	for _, t := range s.idle {
		switch {
		case t.place != at:
			kept = append(kept, t)
		case found == nil && !t.Lost() && t.fits(s.root(at)):
			found = t
			s.used[t] = true
		default:
			stale = append(stale, t)
		}
	}
	s.idle = kept
	s.mu.Unlock()
	for _, t := range stale {
		_ = t.Close() // it has ended, or ends; nothing of a task is below it
	}
	if found != nil {
		return found, nil
	}
	t, err := s.start(at)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.used[t] = true
	s.mu.Unlock()
	return t, nil
}

// fits reports whether root is still the folder that the tree process was confined to,
// by inode: a folder recreated under the same name is not.
func (t *trunk) fits(root string) bool {
	now := folderAt(root)
	if t.root == nil || now == nil {
		return t.root == nil && now == nil
	}
	return os.SameFile(t.root, now)
}

// folderAt returns the information on the folder at path, nil if there is none. It does
// not follow a symbolic link.
func folderAt(path string) os.FileInfo {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return nil
	}
	return info
}

// start starts a tree process for a root, confined to the root and its scratch folders unless
// that is the whole workspace.
func (s *Set) start(at place) (*trunk, error) {
	t := &trunk{place: at, root: folderAt(s.root(at))}
	lock := s.cfg.Lock
	var writable []string
	if !at.isWorkspace() {
		lock += "-" + short(string(at.task)+at.repo)
		f := s.folders(at)
		writable = append([]string{f.temp, f.home, f.cache, f.role}, s.cfg.Shared...)
		if t.root != nil {
			writable = append(writable, s.root(at))
		}
	}
	argv := append(s.cfg.TreeArgv[:len(s.cfg.TreeArgv):len(s.cfg.TreeArgv)], lock)
	var err error
	t.Tree, err = proctree.Start(append(argv, writable...), s.cfg.Env)
	return t, err
}

// short returns a short name for a project: that of a socket has 107 bytes at most, and
// a project's up to 100.
func short(repo string) string {
	sum := sha256.Sum256([]byte(repo))
	return hex.EncodeToString(sum[:8])
}

// Tree returns the tree process that starts the scope's commands.
func (sc *Scope) Tree() *proctree.Tree { return sc.trunk.Tree }

// Env returns the environment of the commands of a tool call, counted from 1, or of the
// task outside of calls (0). Its proxy variables have an address, and its variables for the
// resolver a search domain, that tell the egress proxy the task and the call, see
// choir.CallMark; daemonised processes inherit them.
func (sc *Scope) Env(task choir.ID, call int) []string {
	old, ok := proxyIn(sc.env)
	if !ok {
		return sc.env[:len(sc.env):len(sc.env)]
	}
	mark := choir.MarkOf(task, call)
	at := netip.AddrPortFrom(mark.Addr(), old.Port())
	env := make([]string, 0, len(sc.env)+10)
	for _, kv := range sc.env {
		if strings.HasPrefix(strings.ToLower(kv), "no_proxy=") {
			kv += "," + at.Addr().String()
		}
		env = append(env, strings.ReplaceAll(kv, "http://"+old.String(), "http://"+at.String()))
	}
	// Programs that look names up themselves carry the mark in the domain that they try first.
	return append(env, "LOCALDOMAIN="+mark.SearchDomain(), "RES_OPTIONS=ndots:15")
}

// proxyIn returns the address in the variable http_proxy of an environment; ok is false
// if there is none.
func proxyIn(env []string) (at netip.AddrPort, ok bool) {
	for _, kv := range env {
		if proxy, is := strings.CutPrefix(kv, "http_proxy=http://"); is {
			at, err := netip.ParseAddrPort(proxy)
			return at, err == nil
		}
	}
	return at, false
}

// Clear kills every process of the scope, daemonised ones too, and returns the resources
// they used since the last Clear. Processes of other scopes are not affected.
func (sc *Scope) Clear() (proctree.Usage, error) { return sc.trunk.Clear() }

// Close kills every process of the scope and empties its project's temporary folder; of a
// worktree it removes all. It returns an error if a process cannot be killed.
func (sc *Scope) Close() error {
	_, err := sc.Clear()
	at := sc.trunk.place
	if at.task == "" {
		_ = sc.set.letIn(at, sc.set.folders(at)) // the next Open says what is wrong
		sc.set.emptyTemp(at)
	}
	sc.set.release(sc.trunk, err)
	if at.task != "" {
		sc.set.removeWorktree(at)
	}
	return err
}

// release returns a tree process to the idle ones, and closes it instead if failed is not
// nil or it was killed. It closes the oldest idle ones beyond maxIdle.
func (s *Set) release(t *trunk, failed error) {
	s.mu.Lock()
	delete(s.used, t)
	var surplus []*trunk
	switch {
	case t.Lost():
		s.lost = true
		surplus = []*trunk{t}
	case failed != nil, t.task != "":
		surplus = []*trunk{t}
	default:
		s.idle = append(s.idle, t)
		if more := len(s.idle) - maxIdle; more > 0 {
			surplus = append(surplus, s.idle[:more]...)
			s.idle = append(s.idle[:0], s.idle[more:]...)
		}
	}
	s.mu.Unlock()
	for _, t := range surplus {
		_ = t.Close() // its end is all that is wanted; Lost tells of a kill
	}
}

// Lost reports whether a tree process was killed: the processes below it may still run.
func (s *Set) Lost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := s.lost
	for t := range s.used {
		lost = lost || t.Lost()
	}
	for _, t := range s.idle {
		lost = lost || t.Lost()
	}
	return lost
}

// Close ends the tree processes of all scopes with all processes below them. It returns
// the first error.
func (s *Set) Close() error {
	s.mu.Lock()
	all := s.idle
	for t := range s.used {
		all = append(all, t)
	}
	s.idle, s.used = nil, map[*trunk]bool{}
	s.mu.Unlock()
	var err error
	for _, t := range all {
		if cerr := t.Close(); err == nil {
			err = cerr
		}
	}
	return err
}

// folders are the scratch folders of a root, outside the workspace. None lies in
// another, and commands cannot write to their parent, so they cannot replace them.
type folders struct{ temp, home, cache, role string }

// folders returns the scratch folders of a project, or those of the sandbox for the
// whole workspace.
func (s *Set) folders(at place) folders {
	if at.isWorkspace() {
		return folders{temp: s.cfg.Scratch, home: s.cfg.Scratch, cache: filepath.Join(s.cfg.Scratch, "cache"), role: s.cfg.Scratch}
	}
	of := s.ownFolder(at)
	return folders{temp: filepath.Join(of, "tmp"), home: filepath.Join(of, "home"), cache: filepath.Join(of, "cache"), role: filepath.Join(of, "role")}
}

// ownFolder returns the folder of a root's scratch folders.
func (s *Set) ownFolder(at place) string {
	name := at.repo
	if at.task != "" {
		name = ".worktree-" + string(at.task) // no project's name begins with a dot
	}
	return filepath.Join(s.cfg.Scratch, "of", name)
}

// environment returns the environment of the commands of a root. The sandbox's own
// variables come after those of verify.Env and so override them.
func (s *Set) environment(at place, f folders) []string {
	var env []string
	for _, v := range verify.Env(f.cache) {
		env = append(env, v.Name+"="+v.Value)
	}
	env = append(env, s.cfg.Env...)
	if at.isWorkspace() {
		return env
	}
	own := []string{"TMPDIR=" + f.temp, "HOME=" + f.home}
	kept := env[:0]
	for _, kv := range env {
		if !strings.HasPrefix(kv, "TMPDIR=") && !strings.HasPrefix(kv, "HOME=") {
			kept = append(kept, kv)
		}
	}
	return append(kept, own...)
}

// emptyTemp removes the content of the project's temporary folder. It ignores errors:
// files that cannot be removed stay until the sandbox ends.
func (s *Set) emptyTemp(at place) {
	if at.isWorkspace() {
		return
	}
	dir, err := os.OpenRoot(s.folders(at).temp)
	if err != nil {
		return
	}
	defer dir.Close()
	entries, err := os.ReadDir(dir.Name())
	if err != nil {
		return
	}
	for _, e := range entries {
		_ = dir.RemoveAll(e.Name())
	}
}

package guest

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// tree gives one operation at a time exclusive use of the workspace: a scan, a restore or
// an unpack.
type tree struct {
	turn    chan struct{} // capacity 1; holds the one turn
	scanner *snapshot.Scanner
}

func newTree(root string) *tree {
	if root == "" {
		return nil
	}
	t := &tree{turn: make(chan struct{}, 1), scanner: snapshot.NewScanner(root, snapshot.ScanConfig{})}
	t.turn <- struct{}{}
	return t
}

// worktrees are the trees beside the workspace that were scanned last.
type worktrees struct {
	dir string

	mu    sync.Mutex // guards known
	known map[choir.ID]*tree
}

// maxWorktrees limits the worktrees whose scanners are kept: each remembers its files.
const maxWorktrees = 4

// tree returns a worktree. Code not_found: there is no folder of that name.
func (w *worktrees) tree(id choir.ID) (*tree, error) {
	folder := filepath.Join(w.dir, string(id))
	if info, err := os.Lstat(folder); w.dir == "" || err != nil || !info.IsDir() {
		return nil, choir.E("guest.tree", choir.CodeNotFound, "there is no worktree %s", id)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if t := w.known[id]; t != nil {
		return t, nil
	}
	if len(w.known) >= maxWorktrees {
		clear(w.known) // those in use are held by who uses them
	}
	w.known[id] = newTree(folder)
	return w.known[id], nil
}

// takeTree waits for the exclusive use of the workspace, or of a worktree unless that is
// empty, and returns it with a function that ends the use. Without one, or when ctx ends, it
// is an error.
func (s *Server) takeTree(ctx context.Context, worktree choir.ID) (*tree, func(), error) {
	t := s.tree
	if worktree != "" {
		var err error
		if t, err = s.worktrees.tree(worktree); err != nil {
			return nil, nil, err
		}
	}
	if t == nil {
		return nil, nil, noWorkspace()
	}
	select {
	case <-t.turn:
		return t, func() { t.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, nil, choir.Wrap("guest.tree", "", ctx.Err(), "wait for the workspace")
	}
}

func noWorkspace() error {
	return choir.E("guest", choir.CodeUnavailable, "this sandbox has no workspace")
}

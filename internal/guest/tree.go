package guest

import (
	"context"

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

// takeTree waits for the exclusive use of the workspace and returns it with a function
// that ends the use. Without a workspace, or when ctx ends, it is an error.
func (s *Server) takeTree(ctx context.Context) (*tree, func(), error) {
	if s.tree == nil {
		return nil, nil, noWorkspace()
	}
	select {
	case <-s.tree.turn:
		return s.tree, func() { s.tree.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, nil, choir.Wrap("guest.tree", "", ctx.Err(), "wait for the workspace")
	}
}

func noWorkspace() error {
	return choir.E("guest", choir.CodeUnavailable, "this sandbox has no workspace")
}

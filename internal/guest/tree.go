package guest

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// tree is the workspace as one thing: whoever scans it, restores it or unpacks
// into it has it alone.
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

// take waits for the turn; the caller gives it back by calling the function.
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

package selfsource

import (
	"context"
	"slices"
	"strings"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// known remembers what the source is compared with.
type known struct {
	mu       sync.Mutex // guards what follows
	hasFirst bool
	first    choir.Digest // the first snapshot, empty for none, once hasFirst is true
	// carried is the source in this choir, empty for none, once hasCarried is true.
	carried    choir.Digest
	hasCarried bool
	// rewritten is the last result of Source.rewritten, and the two folders it is of.
	rewritten struct {
		base, now choir.Digest
		yes       bool
	}
}

// state is the source and what it is compared with, each by the digest of its folder.
type state struct {
	now     choir.Digest // as it is; empty when there is none
	base    choir.Digest // as it was shipped, when it came or was upgraded last; empty when it never was
	carried choir.Digest // as this choir carries it; empty for none
	tree    choir.Digest // a tree in which base is
}

// changed reports whether a person or an agent has changed the source. A missing source
// counts as unchanged.
func (s state) changed() bool {
	return s.base != "" && s.now != "" && s.now != s.base && s.now != s.carried
}

// outdated reports whether this choir carries another version than the one the
// workspace's source is based on.
func (s state) outdated() bool {
	return s.base != "" && s.now != "" && s.carried != "" && s.base != s.carried && s.now != s.carried
}

// Changed reports whether the source differs from the version that was shipped, so that
// its page must be built. Themes and times do not count, and a missing source counts as
// unchanged.
func (s *Source) Changed(ctx context.Context) (bool, error) {
	state, err := s.state(ctx)
	if err != nil || !state.changed() {
		return false, err
	}
	return s.rewritten(ctx, state.base, state.now)
}

// Outdated reports whether choir carries a newer version than the one the workspace's
// source is based on. An unchanged source is replaced when the computer wakes.
func (s *Source) Outdated(ctx context.Context) (bool, error) {
	state, err := s.state(ctx)
	return state.outdated(), err
}

// rewritten reports whether two source folders differ in more than themes and times.
func (s *Source) rewritten(ctx context.Context, base, now choir.Digest) (bool, error) {
	s.known.mu.Lock()
	last := s.known.rewritten
	s.known.mu.Unlock()
	if last.base == base && last.now == now {
		return last.yes, nil
	}
	changes, err := snapshot.Diff(ctx, s.keeper, base, now)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return true, nil // what it was shipped as was collected
	}
	if err != nil {
		return false, choir.Wrap("computer.source", "", err, "compare the desktop's source with what was shipped")
	}
	last.base, last.now = base, now
	last.yes = slices.ContainsFunc(changes, func(ch snapshot.Change) bool {
		return !ch.TimeOnly() && (!isTheme(ch.Path) || ch.From != "" && !isTheme(ch.From))
	})
	s.known.mu.Lock()
	s.known.rewritten = last
	s.known.mu.Unlock()
	return last.yes, nil
}

// isTheme reports whether a path lies in the themes folder of the source.
func isTheme(path string) bool {
	return path == themes || strings.HasPrefix(path, themes+"/")
}

// state returns the state of the source according to the log.
func (s *Source) state(ctx context.Context) (out state, err error) {
	if out.tree, err = s.shippedTree(ctx); err != nil || out.tree == "" {
		return out, err
	}
	if out.base, err = s.folderIn(ctx, out.tree); err != nil || out.base == "" {
		return out, err
	}
	root, err := s.workspace.LastSnapshot(ctx)
	if err != nil {
		return out, err
	}
	if out.now, err = s.folderIn(ctx, root); err != nil {
		return out, err
	}
	out.carried, err = s.carried()
	return out, err
}

// shippedTree returns the tree with the version that the workspace's source is based
// on: that of the newest upgrade in force, else the first snapshot in the log.
func (s *Source) shippedTree(ctx context.Context) (choir.Digest, error) {
	up, err := s.log.SourceUpgraded(ctx)
	if choir.CodeOf(err) != choir.CodeNotFound {
		return up.Base, err
	}
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	if s.known.hasFirst {
		return s.known.first, nil
	}
	taken, _, err := s.log.FirstSnapshot(ctx)
	if err == nil && taken.Snapshot != "" {
		s.known.first, s.known.hasFirst = taken.Snapshot, true
	}
	return taken.Snapshot, err
}

// carried returns the digest of the source that this choir carries; empty if it carries
// none.
func (s *Source) carried() (choir.Digest, error) {
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	if s.known.hasCarried || len(s.cfg.Archive) == 0 {
		return s.known.carried, nil
	}
	t, err := readArchive(s.cfg.Archive)
	if err == nil {
		s.known.carried, s.known.hasCarried = t.source, true
	}
	return t.source, err
}

// folderIn returns the digest of the source's folder in a tree; empty if there is none
// or it has no page.
func (s *Source) folderIn(ctx context.Context, root choir.Digest) (choir.Digest, error) {
	if root == "" {
		return "", nil
	}
	e, err := s.workspace.Lookup(ctx, root, Folder)
	if err != nil || e == nil || e.Kind != snapshot.Dir {
		return "", err
	}
	if page, err := s.workspace.Lookup(ctx, root, Folder+"/index.html"); err != nil || page == nil {
		return "", err
	}
	return e.Digest(), nil
}

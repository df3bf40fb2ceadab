package computer

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Source is the folder of the workspace with the desktop's own source.
const Source = "choiros"

// themeFolder is the folder in it with the themes.
const themeFolder = "themes"

// shipSource lays the desktop's source into a workspace that nobody has looked
// at yet. What the owner took away later stays away.
func (c *Computer) shipSource(ctx context.Context, client *guest.Client) error {
	last, err := c.workspace.LastSnapshot(ctx)
	if err != nil || last != "" || len(c.cfg.Source) == 0 {
		return err
	}
	_, _, err = client.Unpack(ctx, Source, bytes.NewReader(c.cfg.Source))
	if choir.CodeOf(err) == choir.CodeConflict {
		return nil // an earlier start got this far
	}
	return choir.Wrap("computer.source", "", err, "lay out the desktop's source")
}

// shippedSource remembers what the desktop's source is held against.
type shippedSource struct {
	mu    sync.Mutex   // guards what follows
	known bool         // first is
	first choir.Digest // the first snapshot, empty for none
	// carried is the source in this choir, empty for none, once asked is true.
	carried choir.Digest
	asked   bool
	// rewritten is what sourceRewritten found of two folders last.
	rewritten struct {
		base, now choir.Digest
		yes       bool
	}
}

// sourceState is the desktop's source and what it is held against, each by the
// digest of its folder.
type sourceState struct {
	now     choir.Digest // as it is; empty when there is none
	base    choir.Digest // as it was shipped, when it came or was upgraded last; empty when it never was
	carried choir.Digest // as this choir carries it; empty for none
	tree    choir.Digest // a tree in which base is
}

// changed says whether the source is a person's or an agent's by now. One that
// is not there is not changed.
func (s sourceState) changed() bool {
	return s.base != "" && s.now != "" && s.now != s.base && s.now != s.carried
}

// outdated says whether this choir carries another source than the one that the
// workspace's was made of.
func (s sourceState) outdated() bool {
	return s.base != "" && s.now != "" && s.carried != "" && s.base != s.carried && s.now != s.carried
}

// SourceChanged says whether the desktop's source is different from what was
// shipped, so that the page has to be made of it. Themes are data, which every
// page reads as they lie there; times do not count. A source that is not there is
// not different.
func (c *Computer) SourceChanged(ctx context.Context) (bool, error) {
	s, err := c.sourceState(ctx)
	if err != nil || !s.changed() {
		return false, err
	}
	return c.sourceRewritten(ctx, s.base, s.now)
}

// sourceRewritten compares two folders with a source.
func (c *Computer) sourceRewritten(ctx context.Context, base, now choir.Digest) (bool, error) {
	known := &c.shipped.rewritten
	c.shipped.mu.Lock()
	last := *known
	c.shipped.mu.Unlock()
	if last.base == base && last.now == now {
		return last.yes, nil
	}
	changes, err := snapshot.Diff(ctx, c.keeper, base, now)
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
	c.shipped.mu.Lock()
	*known = last
	c.shipped.mu.Unlock()
	return last.yes, nil
}

func isTheme(path string) bool {
	return path == themeFolder || strings.HasPrefix(path, themeFolder+"/")
}

// SourceOutdated says whether choir carries a newer source than the workspace's
// was made of. One that nobody changed is replaced when the computer wakes.
func (c *Computer) SourceOutdated(ctx context.Context) (bool, error) {
	s, err := c.sourceState(ctx)
	return s.outdated(), err
}

// sourceState looks at the source as the log knows it.
func (c *Computer) sourceState(ctx context.Context) (s sourceState, err error) {
	if s.tree, err = c.sourceTree(ctx); err != nil || s.tree == "" {
		return s, err
	}
	if s.base, err = c.sourceIn(ctx, s.tree); err != nil || s.base == "" {
		return s, err
	}
	root, err := c.workspace.LastSnapshot(ctx)
	if err != nil {
		return s, err
	}
	if s.now, err = c.sourceIn(ctx, root); err != nil {
		return s, err
	}
	s.carried, err = c.carriedSource()
	return s, err
}

// sourceTree is the tree with the source as it was shipped last: that of the
// newest upgrade in force, else the first snapshot in the log, the computer's own
// or of the one it was forked from.
func (c *Computer) sourceTree(ctx context.Context) (choir.Digest, error) {
	up, err := c.store.SourceUpgraded(ctx)
	if choir.CodeOf(err) != choir.CodeNotFound {
		return up.Base, err
	}
	c.shipped.mu.Lock()
	defer c.shipped.mu.Unlock()
	if c.shipped.known {
		return c.shipped.first, nil
	}
	first, err := c.firstSnapshot(ctx)
	if err == nil && first != "" {
		c.shipped.first, c.shipped.known = first, true
	}
	return first, err
}

// carriedSource is the source in this choir as it lies in a workspace.
func (c *Computer) carriedSource() (choir.Digest, error) {
	c.shipped.mu.Lock()
	defer c.shipped.mu.Unlock()
	if c.shipped.asked || len(c.cfg.Source) == 0 {
		return c.shipped.carried, nil
	}
	t, err := unpacked(c.cfg.Source)
	if err == nil {
		c.shipped.carried, c.shipped.asked = t.source, true
	}
	return t.source, err
}

func (c *Computer) firstSnapshot(ctx context.Context) (choir.Digest, error) {
	taken, _, err := c.store.FirstSnapshot(ctx)
	return taken.Snapshot, err
}

// sourceIn is the digest of the source's folder in a tree; empty when there is
// none, or no page in it.
func (c *Computer) sourceIn(ctx context.Context, root choir.Digest) (choir.Digest, error) {
	if root == "" {
		return "", nil
	}
	e, err := c.workspace.Lookup(ctx, root, Source)
	if err != nil || e == nil || e.Kind != snapshot.Dir {
		return "", err
	}
	if page, err := c.workspace.Lookup(ctx, root, Source+"/index.html"); err != nil || page == nil {
		return "", err
	}
	return e.Digest(), nil
}

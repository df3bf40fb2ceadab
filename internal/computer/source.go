package computer

import (
	"bytes"
	"context"
	"net"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Source is the folder of the workspace with the desktop's own source.
const Source = "choiros"

// shipSource lays the desktop's source into a workspace that nobody has looked
// at yet. What the owner took away later stays away.
func (c *Computer) shipSource(ctx context.Context, client *guest.Client) error {
	last, err := c.lastSnapshot(ctx)
	if err != nil || last != "" || len(c.cfg.Source) == 0 {
		return err
	}
	_, _, err = client.Unpack(ctx, Source, bytes.NewReader(c.cfg.Source))
	if choir.CodeOf(err) == choir.CodeConflict {
		return nil // an earlier start got this far
	}
	return choir.Wrap("computer.source", "", err, "lay out the desktop's source")
}

// shippedSource remembers the digest of the source that a computer was made with.
type shippedSource struct {
	mu     sync.Mutex // guards what follows
	known  bool
	digest choir.Digest // empty when it was made with none
}

// SourceChanged says whether the desktop's source is different from what this
// computer was made with. A source that is not there is not different.
func (c *Computer) SourceChanged(ctx context.Context) (bool, error) {
	shipped, err := c.madeWith(ctx)
	if err != nil || shipped == "" {
		return false, err
	}
	root, err := c.lastSnapshot(ctx)
	if err != nil {
		return false, err
	}
	now, err := c.sourceIn(ctx, root)
	return now != "" && now != shipped, err
}

// madeWith is the source this computer was made with: that of the first
// snapshot in its log, its own or the one it was forked from.
func (c *Computer) madeWith(ctx context.Context) (choir.Digest, error) {
	c.shipped.mu.Lock()
	defer c.shipped.mu.Unlock()
	if c.shipped.known {
		return c.shipped.digest, nil
	}
	first, err := c.firstSnapshot(ctx)
	if err != nil || first == "" {
		return "", err
	}
	d, err := c.sourceIn(ctx, first)
	if err == nil {
		c.shipped.digest, c.shipped.known = d, true
	}
	return d, err
}

func (c *Computer) firstSnapshot(ctx context.Context) (choir.Digest, error) {
	head, _ := c.store.Head()
	for after := uint64(0); after < head; {
		events, err := c.store.EventsAfter(ctx, after, 1000)
		if err != nil || len(events) == 0 {
			return "", err
		}
		for _, e := range events {
			if e.Type != "snapshot.taken" {
				continue
			}
			p, err := choir.DecodePayload(e.Type, e.Payload)
			if err != nil {
				return "", err
			}
			return p.(*choir.SnapshotTaken).Snapshot, nil
		}
		after = events[len(events)-1].Seq
	}
	return "", nil
}

// sourceIn is the digest of the source's folder in a tree; empty when there is
// none, or no page in it.
func (c *Computer) sourceIn(ctx context.Context, root choir.Digest) (choir.Digest, error) {
	if root == "" {
		return "", nil
	}
	e, err := c.lookup(ctx, root, Source)
	if err != nil || e == nil || e.Kind != snapshot.Dir {
		return "", err
	}
	if page, err := c.lookup(ctx, root, Source+"/index.html"); err != nil || page == nil {
		return "", err
	}
	return e.Digest(), nil
}

// ExecTool starts a command in the Associate's sandbox that belongs to the
// computer and not to a task. It ends with the context, and with the sandbox.
func (c *Computer) ExecTool(ctx context.Context, spec guest.ExecSpec) (*guest.Process, error) {
	client, err := c.seats[choir.RoleAssociate].guest(ctx)
	if err != nil {
		return nil, err
	}
	return client.Exec(ctx, spec)
}

// DialPort connects to a port inside the Associate's sandbox; code unavailable
// when nothing listens there.
func (c *Computer) DialPort(ctx context.Context, port int) (net.Conn, error) {
	client, err := c.seats[choir.RoleAssociate].guest(ctx)
	if err != nil {
		return nil, err
	}
	return client.DialPort(ctx, port)
}

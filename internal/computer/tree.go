package computer

import (
	"context"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// lockTree waits for its turn at the workspace: one scan or restore at a time.
func (c *Computer) lockTree(ctx context.Context) (unlock func(), err error) {
	select {
	case c.tree <- struct{}{}:
		return func() { <-c.tree }, nil
	case <-ctx.Done():
		return nil, choir.Wrap("computer.tree", choir.CodeTimeout, ctx.Err(), "wait for the workspace")
	}
}

// scan takes the workspace as it is into the store. The caller holds the tree.
func (c *Computer) scan(ctx context.Context) (snapshot.Result, *guest.Client, error) {
	client, err := c.seats[choir.RoleAssociate].guest(ctx)
	if err != nil {
		return snapshot.Result{}, nil, err
	}
	res, err := client.Scan(ctx, c.keeper)
	return res, client, err
}

// record makes drafts of what differs between the last snapshot in the log and
// the one just taken. There are none when nothing differs, unless always.
func (c *Computer) record(ctx context.Context, now snapshot.Result, reason string, always bool) ([]choir.Draft, error) {
	last, err := c.lastSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	if last == now.Root && !always {
		return nil, nil
	}
	var payloads []choir.Payload
	if last != now.Root {
		changes, err := c.changes(ctx, last, now.Root)
		if err != nil {
			return nil, err
		}
		payloads = fileEvents(changes, now.Root)
	}
	payloads = append(payloads, choir.SnapshotTaken{Snapshot: now.Root, Reason: reason, Files: now.Files, Bytes: now.Bytes})
	drafts := make([]choir.Draft, 0, len(payloads))
	for _, p := range payloads {
		d, err := c.draft(p)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, d)
	}
	return drafts, nil
}

// changes lists what differs between two snapshots; from the empty one, every
// path of the other.
func (c *Computer) changes(ctx context.Context, from, to choir.Digest) ([]snapshot.Change, error) {
	if from != "" {
		return snapshot.Diff(ctx, c.keeper, from, to)
	}
	var out []snapshot.Change
	err := snapshot.Walk(ctx, c.keeper, to, func(path string, e *snapshot.Entry) error {
		if path != "" {
			after := *e
			out = append(out, snapshot.Change{Path: path, Kind: choir.ChangeAdded, After: &after})
		}
		return nil
	})
	return out, err
}

// lastSnapshot is the newest snapshot the log knows; empty when there is none.
func (c *Computer) lastSnapshot(ctx context.Context) (choir.Digest, error) {
	head, _ := c.store.Head()
	s, _, err := c.store.SnapshotAt(ctx, head)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", nil
	}
	return s.Snapshot, err
}

// appendAll appends any number of drafts, in batches that fit one append.
func (c *Computer) appendAll(ctx context.Context, role choir.Role, drafts []choir.Draft) error {
	for len(drafts) > 0 {
		n := min(len(drafts), choir.MaxDrafts)
		if _, err := c.store.Append(ctx, role, drafts[:n]...); err != nil {
			return err
		}
		drafts = drafts[n:]
	}
	return nil
}

// eventRoom bounds the lists in one event, in bytes, well below the inline limit.
const eventRoom = 48 << 10

// fileEvents lists changes as events that each fit inline. What lies in a .git
// folder is exact in the snapshot and left out here: it is git's bookkeeping.
func fileEvents(changes []snapshot.Change, root choir.Digest) []choir.Payload {
	var out []choir.Payload
	var written []choir.FileState
	var removed []string
	var wroteBytes, removedBytes int
	for _, ch := range changes {
		if ch.Path == "" || inGit(ch.Path) || ch.TimeOnly() {
			continue
		}
		if ch.From != "" && !inGit(ch.From) {
			removed = append(removed, ch.From)
			removedBytes += len(ch.From) + 4
		}
		if ch.After == nil {
			if removed = append(removed, ch.Path); removedBytes+len(ch.Path) > eventRoom || len(removed) == 4096 {
				out = append(out, choir.FileRemoved{Paths: removed, Snapshot: root})
				removed, removedBytes = nil, 0
			}
			removedBytes += len(ch.Path) + 4
			continue
		}
		st := ch.After.State(ch.Path)
		written = append(written, st)
		if wroteBytes += len(st.Path) + len(st.Target) + 200; wroteBytes > eventRoom || len(written) == 4096 {
			out = append(out, choir.FileWritten{Files: written, Snapshot: root})
			written, wroteBytes = nil, 0
		}
	}
	if len(written) > 0 {
		out = append(out, choir.FileWritten{Files: written, Snapshot: root})
	}
	if len(removed) > 0 {
		out = append(out, choir.FileRemoved{Paths: removed, Snapshot: root})
	}
	return out
}

func inGit(path string) bool {
	return path == ".git" || strings.HasPrefix(path, ".git/") || strings.Contains(path, "/.git/") || strings.HasSuffix(path, "/.git")
}

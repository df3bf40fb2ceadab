package guest

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// pushBudget is the number of bytes of objects that a scan sends unrequested. A small
// change thus travels at once with its root; of a large one the client requests the
// objects it lacks.
const pushBudget = 2 << 20

// maxSkipped bounds each list of paths in the answer to a scan.
const maxSkipped = 1000

// scanReply is the result of a scan on the wire.
type scanReply struct {
	Root     choir.Digest     `json:"root" choir:"digest"`
	Hashed   int64            `json:"hashed,omitempty" choir:"range=0..9007199254740991"`
	Left     []string         `json:"left,omitempty" choir:"len=0..1000,each=1..16384"`
	Over     []choir.LeftPath `json:"over,omitempty" choir:"len=0..1000"`
	Skipped  []string         `json:"skipped,omitempty" choir:"len=0..1000,each=1..16384"`
	Unstable []string         `json:"unstable,omitempty" choir:"len=0..1000,each=1..16384"`
}

// scan handles the operation scan: it sends objects and the root. Then it answers the
// client's requests for objects, with an end frame after the objects or a new root if the
// tree has changed, until the client closes the connection.
func (s *Server) scan(ctx context.Context, w *wire, r *request) (any, error) {
	only, err := snapshot.ScanOnly(r.Only)
	if err != nil {
		return nil, choir.Under("only", err)
	}
	ctx, release := w.untilHangup(ctx)
	defer release()
	tree, giveBack, err := s.takeTree(ctx, r.Worktree)
	if err != nil {
		return nil, err
	}
	defer giveBack()
	tree.scanner.LimitCaches(r.CacheLimit)
	tree.scanner.Limit(r.limits())
	if err := tree.scanOnce(ctx, w, only); err != nil {
		return nil, err
	}
	for {
		t, payload, err := w.read()
		if err != nil || t == frameEnd {
			return nil, nil // the client has what it wants, or is gone
		}
		if err := tree.answer(ctx, w, t, payload); err != nil {
			return nil, err
		}
	}
}

// answer sends the objects that the client requests. If the client lacks room for
// contents, it instead excludes the paths with them and scans again.
func (t *tree) answer(ctx context.Context, w *wire, kind frameType, payload []byte) error {
	if kind != frameNeed && kind != frameLeave {
		return unexpected(kind, payload)
	}
	digests, err := parseDigests(payload)
	if err != nil {
		return err
	}
	if kind == frameLeave {
		t.scanner.LeaveOutContent(digests, choir.LeftNoSpace)
		return t.scanOnce(ctx, w, nil)
	}
	missing, err := t.scanner.Fetch(ctx, digests, func(o snapshot.Object) error {
		broken, err := w.sendObject(&o)
		if err == nil && broken != nil {
			err = snapshot.ErrChanged // the client knows, and asks again
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case len(missing) > 0:
		return t.scanOnce(ctx, w, nil)
	}
	return w.write(frameEnd, nil)
}

// scanOnce scans the folders in only, or everything if it is empty, and sends new small
// objects, up to pushBudget bytes, and the root.
func (t *tree) scanOnce(ctx context.Context, w *wire, only []string) error {
	left := int64(pushBudget)
	at := w.reportProgress(t.scanner)
	result, err := t.scanner.ScanBelow(ctx, only, func(o snapshot.Object) error {
		if left -= o.Size; left < 0 || o.Open != nil {
			return nil
		}
		at.sending.Lock() // an object may have several frames
		defer at.sending.Unlock()
		return w.writeObject(&o)
	})
	at.stop()
	if err != nil {
		return err
	}
	return w.writeJSON(frameRoot, &scanReply{
		Root: result.Root, Hashed: result.Hashed, Left: firstPaths(result.Left), Over: firstOver(result.Over),
		Skipped: firstPaths(result.Skipped), Unstable: firstPaths(result.Unstable),
	})
}

// firstOver returns the first of the paths, as many as an answer may hold.
func firstOver(paths []choir.LeftPath) []choir.LeftPath {
	size := 0
	for i, p := range paths {
		if size += len(p.Path) + 60; i == maxSkipped || size > MaxFrame/4 {
			return paths[:i]
		}
	}
	return paths
}

// firstPaths returns the first of the paths, as many as an answer may hold.
func firstPaths(paths []string) []string {
	size := 0
	for i, p := range paths {
		if size += len(p) + 8; i == maxSkipped || size > MaxFrame/4 {
			return paths[:i]
		}
	}
	return paths
}

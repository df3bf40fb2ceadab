package guest

import (
	"bytes"
	"context"
	"io"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// maxOnly bounds the list of paths of a narrow restore, in bytes.
const maxOnly = 256 << 20

// restoreReply is the result of a restore on the wire.
type restoreReply struct {
	Root    choir.Digest `json:"root" choir:"digest"`
	Written int64        `json:"written,omitempty" choir:"range=0..9007199254740991"`
	Changed int64        `json:"changed,omitempty" choir:"range=0..9007199254740991"`
	Removed int64        `json:"removed,omitempty" choir:"range=0..9007199254740991"`
}

// restore handles the operation restore: it makes the workspace match a snapshot and
// requests the objects it needs from the client, one at a time.
func (s *Server) restore(ctx context.Context, w *wire, r *request) (any, error) {
	if r.Target == "" {
		return nil, choir.Invalid("request.target", "is required")
	}
	var opts snapshot.RestoreOptions
	if r.Narrow {
		only, err := readPaths(w)
		if err != nil {
			return nil, err
		}
		opts.Only = func(path string) bool { return only[path] }
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
	at := w.reportProgress(tree.scanner)
	defer at.stop()
	result, err := tree.scanner.Restore(ctx, r.Target, remoteGetter{w}, opts)
	if err != nil {
		return nil, err
	}
	return &restoreReply{Root: result.Root, Written: result.Written, Changed: result.Changed, Removed: result.Removed}, nil
}

// readPaths reads a stream of paths, each terminated by NUL, into a set.
func readPaths(w *wire) (map[string]bool, error) {
	raw, err := io.ReadAll(io.LimitReader(&streamReader{w: w}, maxOnly+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxOnly {
		return nil, choir.E("guest.restore", choir.CodeTooLarge, "the list of paths is longer than 256 MiB")
	}
	only := map[string]bool{}
	for len(raw) > 0 {
		path, rest, ok := bytes.Cut(raw, []byte{0})
		if !ok {
			return nil, choir.Invalid("only", "does not end with NUL")
		}
		only[string(path)] = true
		raw = rest
	}
	return only, nil
}

// remoteGetter reads objects from the client of the running operation. A content must be
// read to its end or closed before the next request.
type remoteGetter struct{ w *wire }

// Manifest returns a manifest and checks its digest; it implements snapshot.Getter.
func (g remoteGetter) Manifest(_ context.Context, d choir.Digest) ([]byte, error) {
	o, err := g.get(d, true)
	if err != nil {
		return nil, err
	}
	raw := bytes.Clone(o.Content)
	if choir.DigestOf(raw) != d {
		return nil, choir.E("guest.restore", choir.CodeCorrupt, "manifest %s is damaged", d)
	}
	return raw, nil
}

// Content opens a content; it implements snapshot.Getter. It does not check the digest,
// because the restore scans the files it has written.
func (g remoteGetter) Content(_ context.Context, d choir.Digest) (io.ReadCloser, error) {
	o, err := g.get(d, false)
	if err != nil {
		return nil, err
	}
	return o.Reader()
}

func (g remoteGetter) get(d choir.Digest, manifest bool) (snapshot.Object, error) {
	want, err := appendDigests([]choir.Digest{d})
	if err != nil {
		return snapshot.Object{}, err
	}
	if err := g.w.write(frameNeed, append(want, flag(manifest))); err != nil {
		return snapshot.Object{}, err
	}
	t, payload, err := g.w.read()
	if err != nil {
		return snapshot.Object{}, err
	}
	if t != frameObject {
		return snapshot.Object{}, unexpected(t, payload)
	}
	o, err := g.w.readObject(payload)
	if err == nil && (o.Digest != d || o.Manifest != manifest) {
		err = choir.Invalid("object", "%s is not what was asked for", o.Digest)
	}
	return o, err
}

// Restore makes the workspace match a snapshot of the keeper, in place. Its guarantees
// and errors are those of snapshot.Scanner.Restore.
func (c *Client) Restore(ctx context.Context, target choir.Digest, keeper *snapshot.Keeper, opts RestoreOptions) (snapshot.RestoreResult, error) {
	s, err := c.open(ctx, c.limited(&request{Op: opRestore, Target: target, Narrow: opts.Narrow, Worktree: opts.Worktree}))
	if err != nil {
		return snapshot.RestoreResult{}, err
	}
	defer s.close()
	if opts.Narrow {
		if err := s.sendStream(frameData, strings.NewReader(joinPaths(opts.Only))); err != nil {
			return snapshot.RestoreResult{}, s.fail(opRestore, err)
		}
	}
	var reply restoreReply
	if err := s.serveObjects(ctx, c, keeper, &reply); err != nil {
		return snapshot.RestoreResult{}, err
	}
	return snapshot.RestoreResult{Root: reply.Root, Written: reply.Written, Changed: reply.Changed, Removed: reply.Removed}, nil
}

func joinPaths(paths []string) string {
	var b strings.Builder
	for _, p := range paths {
		b.WriteString(p)
		b.WriteByte(0)
	}
	return b.String()
}

// serveObjects sends the objects that init requests, until the reply to the restore
// arrives in reply.
func (s *session) serveObjects(ctx context.Context, c *Client, k *snapshot.Keeper, reply *restoreReply) error {
	for {
		t, payload, err := s.read()
		if err == nil && t == frameAt {
			if err = c.passProgress(payload); err == nil {
				continue
			}
		}
		if err != nil {
			return s.fail(opRestore, err)
		}
		if t != frameNeed {
			return s.decode(opRestore, t, payload, reply)
		}
		if len(payload) != 33 {
			return choir.Invalid("need", "must name one object")
		}
		o, err := fromKeeper(ctx, k, choir.DigestFrom([32]byte(payload)), payload[32] == 1)
		if err != nil {
			err = s.writeError(err) // init stops with it
		} else {
			err = s.writeObject(&o)
		}
		if err != nil {
			return s.fail(opRestore, err)
		}
	}
}

// fromKeeper returns a requested object from the keeper, with small content in memory.
func fromKeeper(ctx context.Context, k *snapshot.Keeper, d choir.Digest, manifest bool) (o snapshot.Object, err error) {
	o = snapshot.Object{Digest: d, Manifest: manifest}
	if o.Size, err = k.Size(ctx, d); err != nil {
		return o, err
	}
	if o.Size > objectWhole {
		o.Open = func() (io.ReadCloser, error) { return k.Content(ctx, d) }
		return o, nil
	}
	r, err := k.Content(ctx, d)
	if err != nil {
		return o, err
	}
	defer r.Close()
	o.Content, err = io.ReadAll(r)
	return o, err
}

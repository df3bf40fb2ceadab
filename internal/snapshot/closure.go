package snapshot

import (
	"context"
	"errors"

	"choiros/internal/choir"
)

// closure is one walk over the objects reachable from a root that are not known to be
// complete.
type closure struct {
	*Intake
	ctx     context.Context
	max     int
	asked   map[Sum]bool
	missing []choir.Digest
}

// errEnough ends a walk that has found the requested number of missing objects.
var errEnough = errors.New("enough")

func (in *Intake) closure(ctx context.Context, root choir.Digest, max int) (total, []choir.Digest, error) {
	sum, ok := root.Bytes()
	if !ok {
		return total{}, nil, choir.Invalid("root", "%q is not a digest", root)
	}
	if in.sealed == nil {
		in.sealed = map[Sum]total{}
	}
	in.lacked = map[Sum]int64{}
	c := &closure{Intake: in, ctx: ctx, max: max, asked: map[Sum]bool{}}
	t, err := c.folder(sum, 0)
	if err == errEnough {
		err = nil
	}
	return t, c.missing, err
}

// folder walks the folder with manifest sum, which lies at depth, and returns its total;
// lacks is true if an object below is missing. A tree that breaks a limit or a rule is an
// error.
func (c *closure) folder(sum Sum, depth int) (total, error) {
	t, ok := c.sealed[sum]
	if !ok {
		if t, ok = c.keeper.complete.get(sum); ok {
			c.sealed[sum] = t
		}
	}
	if ok {
		return t, checkTotal(t, depth)
	}
	if c.asked[sum] {
		return total{lacks: true}, nil
	}
	raw, err := c.manifest(sum)
	if raw == nil || err != nil {
		return total{lacks: true}, err
	}
	m, err := DecodeManifest(raw)
	if err != nil {
		return total{}, err
	}
	for i := range m.Entries {
		if err := c.entry(&m.Entries[i], &t, depth); err != nil {
			return total{}, underName(m.Entries[i].Name, err)
		}
	}
	if t.lacks {
		c.asked[sum] = true // it need not be walked again in this round
	} else {
		c.sealed[sum] = t
	}
	return t, checkTotal(t, depth)
}

func (c *closure) entry(e *Entry, t *total, depth int) error {
	t.paths++
	switch e.Kind {
	case Dir:
		below, err := c.folder(e.Sum, depth+1)
		if err != nil {
			return err
		}
		t.files += below.files
		t.bytes += below.bytes
		git := below.git
		if e.Name == ".git" {
			git = gitTotal{below.files, below.bytes}
		}
		t.git.files += git.files
		t.git.bytes += git.bytes
		t.paths += below.paths
		t.depth = max(t.depth, below.depth+1)
		t.lacks = t.lacks || below.lacks
		return checkTotal(*t, depth)
	case File:
		t.bytes += e.Size
		there, err := c.content(e)
		if err != nil {
			return err
		}
		t.lacks = t.lacks || !there
	}
	t.files++
	return nil
}

// checkTotal returns code too_large for a folder at depth whose total exceeds the limits
// of a tree. A hostile tree can reach such totals cheaply, by naming one folder many
// times.
func checkTotal(t total, depth int) error {
	if depth+t.depth > MaxDepth {
		return &choir.Error{Code: choir.CodeTooLarge, Msg: "the tree is more than 1000 folders deep"}
	}
	if t.paths > MaxEntries || t.bytes < 0 || t.bytes > 1<<52 {
		return &choir.Error{Code: choir.CodeTooLarge, Msg: "the tree is larger than a snapshot may be"}
	}
	return nil
}

// manifest returns an encoded manifest from the intake or the store; nil if it is
// missing, which it records.
func (c *closure) manifest(sum Sum) ([]byte, error) {
	if o, ok := c.fresh[sum]; ok && o.manifest != nil {
		return o.manifest, nil
	}
	if err := c.ctx.Err(); err != nil {
		return nil, choir.Wrap("snapshot.need", choir.CodeCancelled, err, "ended")
	}
	raw, err := c.keeper.Manifest(c.ctx, choir.DigestFrom(sum))
	if absentOrDamaged(err) {
		return nil, c.lack(sum)
	}
	return raw, err
}

// absentOrDamaged reports whether an error says that an object is absent or corrupt, so
// that it must be sent again.
func absentOrDamaged(err error) bool {
	code := choir.CodeOf(err)
	return code == choir.CodeNotFound || code == choir.CodeCorrupt
}

// content reports whether a file's content is in the intake or the store, and records it
// as missing otherwise. A content of another size than the entry's is code invalid.
func (c *closure) content(e *Entry) (bool, error) {
	size, err := c.size(e)
	if absentOrDamaged(err) {
		c.lacked[e.Sum] = e.Size
		return false, c.lack(e.Sum)
	}
	if _, fresh := c.fresh[e.Sum]; err == nil && size < e.Size && !fresh {
		return false, c.lack(e.Sum) // it was cut short
	}
	if err == nil && size != e.Size {
		err = choir.Invalid("", "has %d bytes, its entry says %d", size, e.Size)
	}
	return true, err
}

func (c *closure) size(e *Entry) (int64, error) {
	if o, ok := c.fresh[e.Sum]; ok {
		return o.size, nil
	}
	if n, ok := c.keeper.stored.get(e.Sum); ok {
		return n, nil
	}
	n, err := c.keeper.store.Size(c.ctx, e.Digest())
	if err == nil {
		c.keeper.stored.put(e.Sum, n)
	}
	return n, err
}

func (c *closure) lack(sum Sum) error {
	if c.asked[sum] {
		return nil
	}
	c.asked[sum] = true
	c.missing = append(c.missing, choir.DigestFrom(sum))
	if len(c.missing) >= c.max {
		return errEnough
	}
	return nil
}

// underName returns a copy of an error with the escaped name prefixed to its path. An
// error without a choir.Error is returned unchanged.
func underName(name string, err error) error {
	var e *choir.Error
	if !errors.As(err, &e) {
		return err
	}
	bare := *e
	bare.Path = EscapePath([]byte(name))
	if e.Path != "" {
		bare.Path += "/" + e.Path
	}
	return &bare
}

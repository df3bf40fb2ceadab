package timeline

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"reflect"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/keyfile"
	"choiros/internal/snapshot"
)

// Log is the source of events. eventstore.Store implements it.
type Log interface {
	// Events iterates over the events of a range in order, both ends included.
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
}

// Reached is the content that is reachable from the events of a log.
type Reached struct {
	// Digests are the blobs that may leave the computer, sorted.
	Digests []choir.Digest
	// Withheld are files that look like keys, by path.
	Withheld []Withheld
	// Absent are the blobs that the events name and the store does not have: they were
	// collected. Sorted.
	Absent []choir.Digest
}

// Withheld is one file that is not exported, because it looks like a key.
type Withheld struct {
	Path   string       `json:"path"`
	Digest choir.Digest `json:"digest"`
}

// Reach returns the blobs reachable from the events 1 to to: the blobs and snapshots that
// the events name, with everything in the snapshots. Files that look like keys are
// withheld, unless their content also appears under a name that does not. Events that are
// not of one lineage of computers are code corrupt, events of a newer choir code
// unavailable.
func Reach(ctx context.Context, log Log, keeper *snapshot.Keeper, to uint64) (Reached, error) {
	return reachUp(ctx, log, keeper, to, false, nil)
}

// ReachAll returns the blobs reachable from the events 1 to to, see Reach, and withholds
// nothing.
func ReachAll(ctx context.Context, log Log, keeper *snapshot.Keeper, to uint64) (Reached, error) {
	return reachUp(ctx, log, keeper, to, true, nil)
}

// ReachWithout returns the blobs reachable from the events 1 to to, see ReachAll, but
// ignores the events for which let returns true.
func ReachWithout(ctx context.Context, log Log, keeper *snapshot.Keeper, to uint64, let func(*choir.Event) bool) (Reached, error) {
	return reachUp(ctx, log, keeper, to, true, let)
}

func reachUp(ctx context.Context, log Log, keeper *snapshot.Keeper, to uint64, all bool, let func(*choir.Event) bool) (Reached, error) {
	r := reach{ctx: ctx, let: let, keeper: keeper, all: all, found: map[choir.Digest]bool{}, folders: map[choir.Digest]bool{}, suspects: map[choir.Digest]bool{}, withheld: map[Withheld]bool{}}
	if to == 0 {
		return r.reached(), nil // which is no event, and to Events the newest
	}
	after := uint64(0)
	for e, err := range log.Events(ctx, 1, to) {
		if err == nil && e.Seq != after+1 {
			err = choir.Refuse("timeline.reach", choir.ReasonEventMissing, choir.TextOf("event", after+1))
		}
		if err == nil {
			err = r.event(&e)
		}
		if err != nil {
			return Reached{}, err
		}
		after = e.Seq
	}
	if after < to {
		return Reached{}, choir.Refuse("timeline.reach", choir.ReasonLogEndsAt, choir.TextOf("event", after), choir.TextOf("wanted", to))
	}
	return r.reached(), nil
}

// reach is the state of one search.
type reach struct {
	ctx      context.Context
	keeper   *snapshot.Keeper
	lineage  choir.Lineage
	let      func(*choir.Event) bool // events that lead nowhere; nil for none
	all      bool                    // also what looks like a key
	found    map[choir.Digest]bool   // whether it is there
	folders  map[choir.Digest]bool   // manifests that were walked
	suspects map[choir.Digest]bool   // whether the content looks like a key
	withheld map[Withheld]bool
}

func (r *reach) reached() Reached {
	var out Reached
	for d, there := range r.found {
		if there {
			out.Digests = append(out.Digests, d)
		} else {
			out.Absent = append(out.Absent, d)
		}
	}
	slices.Sort(out.Digests)
	slices.Sort(out.Absent)
	out.Withheld = slices.SortedFunc(maps.Keys(r.withheld), func(a, b Withheld) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Digest, b.Digest))
	})
	return out
}

// event adds the blobs and snapshots that an event names. An event that does not continue
// the lineage is code corrupt.
func (r *reach) event(e *choir.Event) error {
	if err := r.lineage.Next(e); err != nil {
		return err
	}
	if r.let != nil && r.let(e) {
		return nil
	}
	if e.Blob != "" {
		if err := r.blob(e.Blob); err != nil {
			return err
		}
	}
	p, err := choir.DecodePayload(e.Type, e.Payload)
	if err != nil {
		return unreadable(e, err)
	}
	for _, n := range namedContent(p) {
		if n.snapshot {
			err = r.snapshot(n.digest)
		} else {
			err = r.blob(n.digest)
		}
		if err != nil {
			return choir.Wrap("timeline.reach", "", err, "event %d", e.Seq)
		}
	}
	return nil
}

// unreadable returns the error for an event whose payload cannot be decoded strictly:
// code unavailable if a newer choir wrote it, else corrupt. Its unknown fields may name
// content, so a search must fail rather than ignore them.
func unreadable(e *choir.Event, err error) error {
	_, known := choir.LookupType(e.Type)
	if known {
		_, rerr := choir.ReadPayload(e.Type, e.Payload)
		known = rerr != nil
		err = errors.Join(err, rerr)
	}
	if !known {
		return choir.Refuse("timeline.reach", choir.ReasonEventOfNewerChoir, choir.TextOf("event", e.Seq), choir.TextOf("type", e.Type))
	}
	return choir.Wrap("timeline.reach", choir.CodeCorrupt, err, "event %d", e.Seq)
}

// name is a digest in a payload, of a blob or of a snapshot.
type name struct {
	digest   choir.Digest
	snapshot bool
}

// namedContent returns the blobs and snapshots that a payload names. The files in a file
// event are covered by its snapshot.
func namedContent(p choir.Payload) []name {
	switch p := p.(type) {
	case *choir.PromptSubmitted:
		if p.Recording == "" {
			return nil
		}
		return []name{{digest: choir.Digest(p.Recording)}}
	case *choir.FileWritten:
		return []name{{p.Snapshot, true}}
	case *choir.ComputerForked, *choir.ComputerImported, *choir.ComputerExported:
		return nil // hashes of events and of a file, not of content
	}
	var out []name
	collect(reflect.ValueOf(p).Elem(), &out)
	return out
}

var digestType = reflect.TypeFor[choir.Digest]()

// snapshotFields are the payload fields whose digest names a folder's manifest.
var snapshotFields = map[string]bool{"Snapshot": true, "Before": true, "Base": true, "Attempt": true, "Worktree": true}

func collect(v reflect.Value, out *[]name) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Type != digestType {
				collect(v.Field(i), out)
			} else if d := choir.Digest(v.Field(i).String()); d != "" {
				*out = append(*out, name{d, snapshotFields[f.Name]})
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			collect(v.Elem(), out)
		}
	case reflect.Slice:
		for i := range v.Len() {
			collect(v.Index(i), out)
		}
	}
}

// blob adds a blob to the result, as found or as absent.
func (r *reach) blob(d choir.Digest) error {
	_, err := r.has(d)
	return err
}

func (r *reach) has(d choir.Digest) (bool, error) {
	if there, known := r.found[d]; known {
		return there, nil
	}
	_, err := r.keeper.Size(r.ctx, d)
	there := choir.CodeOf(err) != choir.CodeNotFound
	if err != nil && there {
		return false, err
	}
	r.found[d] = there
	return there, nil
}

func (r *reach) snapshot(root choir.Digest) error { return r.folder(root, "", 0) }

func (r *reach) folder(d choir.Digest, path string, depth int) error {
	if r.folders[d] {
		return nil
	}
	r.folders[d] = true
	there, err := r.has(d)
	if err != nil || !there {
		return err
	}
	if depth > snapshot.MaxDepth {
		return choir.Refuse("timeline.reach", choir.ReasonTooDeep, choir.TextOf("path", path), choir.TextOf("most", snapshot.MaxDepth))
	}
	raw, err := r.keeper.Manifest(r.ctx, d)
	if err != nil {
		return err
	}
	m, err := snapshot.DecodeManifest(raw)
	if err != nil {
		return err
	}
	for i := range m.Entries {
		e := &m.Entries[i]
		below := pathBelow(path, e.Name)
		switch e.Kind {
		case snapshot.Dir:
			err = r.folder(e.Digest(), below, depth+1)
		case snapshot.File:
			err = r.file(e, below)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pathBelow returns the escaped path of a raw name in the folder with escaped path dir.
func pathBelow(dir, name string) string {
	if dir == "" {
		return snapshot.EscapePath([]byte(name))
	}
	return dir + "/" + snapshot.EscapePath([]byte(name))
}

func (r *reach) file(e *snapshot.Entry, path string) error {
	d := e.Digest()
	if r.all {
		return r.blob(d)
	}
	suspect, known := r.suspects[d]
	if !known && !keyfile.Name(e.Name) {
		var err error
		if suspect, err = looksLikeKey(r.ctx, r.keeper, e); err != nil {
			return err
		}
		r.suspects[d] = suspect
	}
	if suspect || keyfile.Name(e.Name) {
		r.withheld[Withheld{path, d}] = true
		return nil
	}
	return r.blob(d)
}

// looksLikeKey reports whether a file's name, or the beginning of its content, looks like
// a secret key. Absent content does not.
func looksLikeKey(ctx context.Context, keeper *snapshot.Keeper, e *snapshot.Entry) (bool, error) {
	if keyfile.Name(e.Name) {
		return true, nil
	}
	if e.Size == 0 {
		return false, nil
	}
	f, err := keeper.Content(ctx, e.Digest())
	if choir.CodeOf(err) == choir.CodeNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, keyfile.Head))
	return keyfile.Content(head), err
}

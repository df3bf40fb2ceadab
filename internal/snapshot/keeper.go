package snapshot

import (
	"context"
	"io"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// Keeper is the side that stores and does not trust: it checks the hash of
// every object, decodes every manifest strictly, and accepts a root only when
// everything reachable from it is in the store. It is safe for many goroutines
// and is a Getter.
type Keeper struct{ store blob.Store }

// NewKeeper keeps snapshots in a store.
func NewKeeper(store blob.Store) *Keeper { return &Keeper{store: store} }

// Manifest implements Getter.
func (k *Keeper) Manifest(ctx context.Context, d choir.Digest) ([]byte, error) {
	return blob.ReadAll(ctx, k.store, d, MaxManifestBytes)
}

// Content implements Getter.
func (k *Keeper) Content(ctx context.Context, d choir.Digest) (io.ReadCloser, error) {
	return k.store.Open(ctx, d)
}

// Intake takes up one snapshot. It is used by one goroutine and ends with
// Commit or Discard.
type Intake struct{}

// Begin starts to take up a snapshot.
func (k *Keeper) Begin(ctx context.Context) (*Intake, error) {
	return nil, choir.E("snapshot.begin", choir.CodeUnavailable, "not built yet")
}

// Add checks an object and takes it up; code corrupt when it is not what its
// digest says, invalid when it is a manifest that breaks a rule.
func (in *Intake) Add(ctx context.Context, o Object) error { return nil }

// Need returns up to max objects that the root's tree lacks here; none means
// that it is complete. A tree that breaks a rule is refused (code invalid).
func (in *Intake) Need(ctx context.Context, root choir.Digest, max int) ([]choir.Digest, error) {
	return nil, nil
}

// Commit makes the tree durable and returns its files and bytes; code conflict
// when it is not complete.
func (in *Intake) Commit(ctx context.Context, root choir.Digest) (files, bytes int64, err error) {
	return 0, 0, nil
}

// Discard forgets what was not committed. After Commit it does nothing.
func (in *Intake) Discard() {}

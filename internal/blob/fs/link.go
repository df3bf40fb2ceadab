package fs

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// Link implements blob.Linker by hard links: a blob is never written to under
// its name, and removing one name leaves the other.
func (s *Store) Link(ctx context.Context, from blob.Store, digests []choir.Digest) (left []choir.Digest, err error) {
	other, ok := from.(*Store)
	if !ok {
		return digests, nil
	}
	if err := other.Flush(); err != nil { // its content is to be durable in its files
		return nil, wrapErr("blob.link", err, other.dir)
	}
	if err := s.wal.markDirty(); err != nil {
		return nil, wrapErr("blob.link", err, s.dir)
	}
	s.unsynced.Add(1)
	folders := map[string]bool{}
	for _, d := range digests {
		if err := ctx.Err(); err != nil {
			return nil, wrapErr("blob.link", err, string(d))
		}
		err := s.withFolder(d, func() error { return os.Link(other.path(d), s.path(d)) })
		switch {
		case err == nil, errors.Is(err, os.ErrExist):
			folders[s.folder(d)] = true
			// It is as fresh as if it had been put; nothing may lead to it yet.
			switch known, err := s.renew(ctx, d); {
			case err != nil:
				return nil, err
			case !known:
				left = append(left, d) // a collection has just removed it
			}
		case errors.Is(err, unix.EXDEV), errors.Is(err, unix.EPERM), errors.Is(err, unix.EMLINK), errors.Is(err, unix.ENOTSUP):
			left = append(left, d)
		default:
			return nil, wrapErr("blob.link", err, string(d))
		}
	}
	if err := s.syncFolders(slices.Collect(maps.Keys(folders))); err != nil {
		return nil, wrapErr("blob.link", err, s.dir)
	}
	s.unsynced.Add(-1)
	return left, nil
}

var _ blob.Linker = (*Store)(nil)

package fs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/fault"
)

// Each implements blob.Collector.
func (s *Store) Each(ctx context.Context, fn func(blob.Info) error) error {
	recent := s.recent.list()
	for _, info := range recent {
		if err := fn(info); err != nil {
			return err
		}
	}
	folders, err := os.ReadDir(s.dir)
	if err != nil {
		return wrapErr("blob.list", err, s.dir)
	}
	once := func(info blob.Info) error {
		if _, ok := recent[info.Digest]; ok {
			return nil
		}
		return fn(info)
	}
	for _, folder := range folders {
		if folder.Name() == tempDir || folder.Name() == walDir || !folder.IsDir() {
			continue
		}
		if err := s.eachOf(ctx, folder.Name(), once); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) eachOf(ctx context.Context, folder string, fn func(blob.Info) error) error {
	files, err := os.ReadDir(filepath.Join(s.dir, folder))
	if err != nil {
		return wrapErr("blob.list", err, folder)
	}
	for _, f := range files {
		if ctx.Err() != nil {
			return wrapErr("blob.list", ctx.Err(), folder)
		}
		d := choir.Digest(f.Name())
		if !d.Valid() || string(d[:2]) != folder {
			continue // not ours
		}
		info, err := f.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return wrapErr("blob.list", err, string(d))
		}
		if err := fn(blob.Info{Digest: d, Size: info.Size(), Put: info.ModTime()}); err != nil {
			return err
		}
	}
	return nil
}

// Remove implements blob.Collector. It is not durable: a power cut or a replay of the
// write-ahead log can bring the content back, until the next collection.
func (s *Store) Remove(_ context.Context, d choir.Digest, before time.Time) (bool, error) {
	if !d.Valid() {
		return false, choir.Invalid("digest", "%q is not a SHA-256", d)
	}
	removed, kept := s.recent.remove(d, before)
	if kept {
		return false, nil
	}
	names := s.namesOf(d)
	names.Lock()
	defer names.Unlock()
	info, err := os.Stat(s.path(d))
	if errors.Is(err, os.ErrNotExist) {
		return removed, nil
	}
	if err == nil && !info.ModTime().Before(before) {
		return false, nil
	}
	if err == nil {
		fault.Point("blob.remove")
		err = os.Remove(s.path(d))
	}
	return err == nil, wrapErr("blob.remove", err, string(d))
}

// Touch implements blob.Collector.
func (s *Store) Touch(_ context.Context, d choir.Digest) error {
	if !d.Valid() {
		return choir.Invalid("digest", "%q is not a SHA-256", d)
	}
	if s.recent.touch(d) {
		return nil
	}
	names := s.namesOf(d)
	names.RLock()
	defer names.RUnlock()
	now := time.Now()
	return wrapErr("blob.touch", os.Chtimes(s.path(d), now, now), string(d))
}

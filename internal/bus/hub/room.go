package hub

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// minRoom is the free disk space, in bytes, below which the bus runs without its store.
const minRoom = 4 << 20

// room returns the size limit of the stream in bytes: cfg.StoreMax, or half of the space
// free or used by the store if that is less, because the logs on the same disk come first.
// Code no_space: less than minRoom is free.
func (s *Server) room(store string) (int64, error) {
	if err := os.MkdirAll(store, 0o700); err != nil {
		return 0, storeError(err, store)
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(store, &disk); err != nil {
		return 0, choir.Wrap("bus.start", choir.CodeUnavailable, err, "look how much room %s has", store)
	}
	free := int64(disk.Bavail) * disk.Bsize
	if free < minRoom {
		return 0, noRoom(store, free)
	}
	held, err := sizeOf(store)
	if err != nil {
		return 0, choir.Wrap("bus.start", choir.CodeUnavailable, err, "look how large %s is", store)
	}
	size := min(s.cfg.StoreMax, (free+held)/2)
	if size < s.cfg.StoreMax {
		s.cfg.Log.Warn("the disk is too small for the stream of the bus that was asked for; readers who are far behind read the log",
			"store", store, "asked_mib", s.cfg.StoreMax>>20, "given_mib", size>>20)
	}
	return size, nil
}

// noRoom returns the error for a disk with only free bytes left, with code no_space.
func noRoom(store string, free int64) error {
	return choir.E("bus.start", choir.CodeNoSpace, "the bus has no room for its store %s: %d KiB are free, %d are needed; events are kept in the log and delivered later",
		store, free>>10, minRoom>>10).
		WithRemedy("free space on that disk; the bus then goes on by itself")
}

// storeError returns a file system's error about the store with its code.
func storeError(err error, store string) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return noRoom(store, 0)
	}
	return choir.Wrap("bus.start", choir.CodeUnavailable, err, "make the store %s", store)
}

// sizeOf returns the total size of the files below a folder, in bytes.
func sizeOf(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

package fs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"choiros/internal/choir"
)

// folders counts the folders of blobs that were created, and how many of them have a
// durable name. A folder is created with the first name in it.
type folders struct {
	mu            sync.Mutex
	made, durable int
}

// withFolder calls give, which creates the file of d. Where its folder is missing it
// creates the folder and calls give once more.
func (s *Store) withFolder(d choir.Digest, give func() error) error {
	err := give()
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := s.makeFolder(d); err != nil {
		return err
	}
	return give()
}

// makeFolder creates the folder of d. The lock is held meanwhile, so that syncFolders
// counts the folder of each name that was given before it.
func (s *Store) makeFolder(d choir.Digest) error {
	s.folders.mu.Lock()
	defer s.folders.mu.Unlock()
	err := os.Mkdir(s.folder(d), 0o700)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	s.folders.made++
	return err
}

// syncFolders makes the names in folders durable, and those of the folders themselves.
// A folder that does not exist holds no name.
func (s *Store) syncFolders(folders []string) error {
	err := syncAll(folders, func(folder string) error {
		if err := syncDir(folder); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.folders.mu.Lock()
	made, durable := s.folders.made, s.folders.durable
	s.folders.mu.Unlock()
	if made == durable {
		return nil
	}
	if err := syncDir(s.dir); err != nil {
		return err
	}
	s.folders.mu.Lock()
	s.folders.durable = max(s.folders.durable, made)
	s.folders.mu.Unlock()
	return nil
}

// allFolders returns the paths of the folders of blobs that exist.
func (s *Store) allFolders() ([]string, error) {
	var all []string
	for i := range len(s.names) {
		folder := filepath.Join(s.dir, fmt.Sprintf("%02x", i))
		switch _, err := os.Stat(folder); {
		case err == nil:
			all = append(all, folder)
		case !errors.Is(err, os.ErrNotExist):
			return nil, err
		}
	}
	return all, nil
}

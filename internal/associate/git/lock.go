package git

import (
	"errors"
	"os"

	"choiros/internal/fault"
)

// lock is a lock file of git's: it excludes other writers of a file, receives its new
// content, and is then renamed to it.
type lock struct {
	root *os.Root // the repository; no link leads outside of it
	name string   // the locked file, below root
	file *os.File // nil once released
}

// lockFile locks a file below root by creating name.lock. It fails if another process has locked it.
func lockFile(root *os.Root, name string) (*lock, error) {
	f, err := root.OpenFile(name+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	return &lock{root, name, f}, err
}

// replace writes the locked file's new content and releases the lock. On error the lock
// is still held.
func (l *lock) replace(content []byte) error {
	_, err := l.file.Write(content)
	err = errors.Join(err, l.file.Close())
	if err == nil {
		fault.Point("git.ref.rename")
		err = l.root.Rename(l.name+".lock", l.name)
	}
	if err == nil {
		l.file = nil
	}
	return err
}

// drop releases the lock without changing the file; after replace it does nothing.
func (l *lock) drop() {
	if l.file != nil {
		l.file.Close()
		_ = l.root.Remove(l.name + ".lock") // whoever finds it there says which file to remove
		l.file = nil
	}
}

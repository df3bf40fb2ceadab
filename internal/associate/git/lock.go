package git

import (
	"errors"
	"os"

	"choiros/internal/fault"
)

// lock is git's way to change one of its files: the next content is written
// beside it, where it keeps others out, and then takes its name.
type lock struct {
	name string
	file *os.File // nil once it is let go
}

func lockFile(name string) (*lock, error) {
	f, err := os.OpenFile(name+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	return &lock{name, f}, err
}

// replace gives the file its content and ends the lock.
func (l *lock) replace(content []byte) error {
	_, err := l.file.Write(content)
	err = errors.Join(err, l.file.Close())
	if err == nil {
		fault.Point("git.ref.rename")
		err = os.Rename(l.file.Name(), l.name)
	}
	if err == nil {
		l.file = nil
	}
	return err
}

// drop ends a lock without a change; after replace it does nothing.
func (l *lock) drop() {
	if l.file != nil {
		l.file.Close()
		_ = os.Remove(l.file.Name()) // whoever finds it there says which file to remove
		l.file = nil
	}
}

// Package files implements a keyring by files that only their owner can read.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/durablefile"
	"choiros/internal/keyring"
)

// Keyring stores each key in a file of one folder, with mode 600.
type Keyring struct{ dir string }

// New returns a keyring in the folder dir, which the first Put creates.
func New(dir string) *Keyring { return &Keyring{dir: dir} }

func (k *Keyring) path(name string) string { return filepath.Join(k.dir, name) }

// Put implements keyring.Keeper.
func (k *Keyring) Put(_ context.Context, name, key string) error {
	if err := errors.Join(keyring.CheckName(name), keyring.CheckKey(key)); err != nil {
		return choir.Wrap("keyring.put", choir.CodeInvalid, err, "keep a key")
	}
	err := os.MkdirAll(k.dir, 0o700)
	if err == nil {
		err = errors.Join(os.Chmod(k.dir, 0o700), durablefile.SyncFolder(filepath.Dir(k.dir)))
	}
	if err == nil {
		err = durablefile.Write(k.path(name), []byte(key+"\n"))
	}
	if errors.Is(err, durablefile.ErrReplaced) {
		err = fmt.Errorf("%w: %w", keyring.ErrUncertain, err)
	}
	return choir.Wrap("keyring.put", choir.CodeUnavailable, err, "keep the key of %s", name)
}

// Delete implements keyring.Keeper.
func (k *Keyring) Delete(_ context.Context, name string) error {
	if err := keyring.CheckName(name); err != nil {
		return err
	}
	err := durablefile.Remove(k.path(name))
	if errors.Is(err, fs.ErrNotExist) { // no key was ever put
		return nil
	}
	return choir.Wrap("keyring.delete", choir.CodeUnavailable, err, "delete the key of %s", name)
}

// Names implements keyring.Keeper. It ignores entries that are not regular files.
func (k *Keyring) Names(context.Context) ([]string, error) {
	entries, err := os.ReadDir(k.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && keyring.CheckName(e.Name()) == nil {
			names = append(names, e.Name())
		}
	}
	return names, choir.Wrap("keyring.names", choir.CodeUnavailable, err, "list the keys")
}

// Sweep implements keyring.Keeper.
func (k *Keyring) Sweep(ctx context.Context, names []string) error {
	kept, err := k.Names(ctx)
	if err != nil || kept == nil && !exists(k.dir) {
		return err
	}
	for _, name := range kept {
		if !slices.Contains(names, name) {
			err = errors.Join(err, k.Delete(ctx, name))
		}
	}
	return choir.Wrap("keyring.sweep", choir.CodeUnavailable, errors.Join(err, durablefile.RemoveUnfinished(k.dir)), "delete the keys that nothing uses")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Describe implements keyring.Keeper.
func (k *Keyring) Describe(ctx context.Context, name string) keyring.Description {
	d := keyring.Description{Where: k.path(name)}
	if info, err := os.Stat(d.Where); err == nil {
		d.SetAt = choir.TimeOf(info.ModTime())
	}
	_, d.Err = k.Read(ctx, name)
	return d
}

// Read implements keyring.Reader.
func (k *Keyring) Read(_ context.Context, name string) (string, error) {
	if err := keyring.CheckName(name); err != nil {
		return "", err
	}
	return ReadFile(k.path(name))
}

// longestFile is the length of a file with the longest key and a line end.
const longestFile = keyring.MaxKey + 2

// ReadFile returns the key in a file, without surrounding white space. Errors are *choir.Error:
// not_found; refused if others can read the file; unavailable if it cannot be read, is empty or
// too long.
func ReadFile(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", choir.Refuse("models.key", choir.ReasonKeyFileMissing, choir.TextOf("path", path))
	}
	if err != nil {
		return "", choir.Wrap("models.key", choir.CodeUnavailable, err, "cannot read the key file")
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", choir.Wrap("models.key", choir.CodeUnavailable, err, "cannot read the key file")
	case !info.Mode().IsRegular():
		return "", choir.Refuse("models.key", choir.ReasonKeyFileNoFile, choir.TextOf("path", path))
	case info.Mode().Perm()&0o077 != 0:
		return "", choir.Refuse("models.key", choir.ReasonKeyFileOpen, choir.TextOf("path", path))
	}
	raw, err := io.ReadAll(io.LimitReader(f, longestFile+1))
	if err != nil {
		return "", choir.Wrap("models.key", choir.CodeUnavailable, err, "cannot read the key file")
	}
	key := strings.TrimSpace(string(raw))
	if len(raw) > longestFile || len(key) > keyring.MaxKey {
		return "", choir.Refuse("models.key", choir.ReasonKeyFileLong, choir.TextOf("path", path), choir.CountOf("most", keyring.MaxKey))
	}
	if key == "" {
		return "", choir.Refuse("models.key", choir.ReasonKeyFileEmpty, choir.TextOf("path", path))
	}
	return key, nil
}

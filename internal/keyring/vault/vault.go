// Package vault implements a keyring by one file, encrypted with age under a master key.
//
// The master key is an age identity in a file of mode 600 beside it. While the master key is
// changed that file has the new and the old one, so that the entries can be read whenever the
// change breaks off.
package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"filippo.io/age"

	"choiros/internal/choir"
	"choiros/internal/durablefile"
	"choiros/internal/keyring"
)

// sealed is an entry in the encrypted file.
type sealed struct {
	Key   string              `json:"key"`
	SetAt choir.Time          `json:"set_at"`
	Bound *choir.VaultBinding `json:"bound,omitempty"`
}

// content holds the entries in the file, decrypted.
type content struct {
	Version int               `json:"version"`
	Entries map[string]sealed `json:"entries"`
	Untold  []untold          `json:"untold,omitempty"` // the oldest first
}

// untold is a change that a log may not tell yet. It holds no key.
type untold struct {
	Name     string   `json:"name"`
	Computer choir.ID `json:"computer"`
	keyring.Change
}

// change makes a change of an entry untold, unless one of it is already.
func (c *content) change(name string, bound *choir.VaultBinding, by keyring.Change) {
	if bound == nil || slices.ContainsFunc(c.Untold, func(u untold) bool { return u.Name == name && u.Computer == bound.Computer }) {
		return
	}
	c.Untold = append(c.Untold, untold{name, bound.Computer, by})
}

// version is the version of content that is written. A newer one is refused.
const version = 1

// Vault is an encrypted keyring. Its methods may be called at once.
type Vault struct {
	dir string
	now func() time.Time

	// changing is held for one change, from its reading to its last sync, so that none is lost.
	// Nobody who only reads waits for it.
	changing sync.Mutex
	replaced atomic.Uint64 // how many times a file was replaced
}

// New returns the vault in the folder dir, whose files the first Put or Set makes.
func New(dir string, now func() time.Time) *Vault { return &Vault{dir: dir, now: now} }

func (v *Vault) file() string   { return filepath.Join(v.dir, "vault.age") }
func (v *Vault) master() string { return filepath.Join(v.dir, "vault.key") }

// Put implements keyring.Keeper. The entry is bound to nothing.
func (v *Vault) Put(ctx context.Context, name, key string) error {
	return v.Set(ctx, name, key, nil, keyring.Change{}, nil)
}

// Set implements keyring.Vault.
func (v *Vault) Set(_ context.Context, name, key string, bound *choir.VaultBinding, by keyring.Change, replaces func(keyring.Entry) error) error {
	if err := errors.Join(keyring.CheckName(name), keyring.CheckKey(key)); err != nil {
		return choir.Wrap("vault.put", choir.CodeInvalid, err, "keep a key")
	}
	return v.change("vault.put", func(c *content) error {
		if old, ok := c.Entries[name]; ok && replaces != nil {
			if err := replaces(old.entry(name)); err != nil {
				return err
			}
		}
		c.Entries[name] = sealed{Key: key, SetAt: choir.TimeOf(v.now()), Bound: bound}
		c.change(name, bound, by)
		return nil
	})
}

// entry returns an entry without its key.
func (s sealed) entry(name string) keyring.Entry {
	return keyring.Entry{Name: name, SetAt: s.SetAt, Bound: s.Bound}
}

// Remove implements keyring.Vault.
func (v *Vault) Remove(_ context.Context, name string, by keyring.Change, permits func(keyring.Entry) error) error {
	if err := keyring.CheckName(name); err != nil {
		return err
	}
	return v.change("vault.delete", func(c *content) error {
		old, ok := c.Entries[name]
		if !ok {
			return choir.Refuse("vault", choir.ReasonVaultNoEntry, choir.TextOf("name", name))
		}
		if err := permits(old.entry(name)); err != nil {
			return err
		}
		delete(c.Entries, name)
		c.change(name, old.Bound, by)
		return nil
	})
}

// Untold implements keyring.Vault.
func (v *Vault) Untold(_ context.Context, computer choir.ID) ([]keyring.Untold, error) {
	c, err := v.readWhole()
	var out []keyring.Untold
	for _, u := range c.Untold {
		if u.Computer != computer {
			continue
		}
		one := keyring.Untold{Name: u.Name, Computer: computer, Change: u.Change}
		if e := c.Entries[u.Name]; e.Bound != nil && e.Bound.Computer == computer {
			one.Bound = e.Bound
		}
		out = append(out, one)
	}
	return out, err
}

// Told implements keyring.Vault.
func (v *Vault) Told(_ context.Context, told keyring.Untold) error {
	return v.change("vault.told", func(c *content) error {
		c.Untold = slices.DeleteFunc(c.Untold, func(u untold) bool { return u.Name == told.Name && u.Computer == told.Computer })
		return nil
	})
}

// Delete implements keyring.Keeper.
func (v *Vault) Delete(_ context.Context, name string) error {
	if err := keyring.CheckName(name); err != nil {
		return err
	}
	return v.change("vault.delete", func(c *content) error {
		delete(c.Entries, name)
		return nil
	})
}

// Names implements keyring.Keeper.
func (v *Vault) Names(ctx context.Context) ([]string, error) {
	entries, err := v.List(ctx)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return names, err
}

// List implements keyring.Vault.
func (v *Vault) List(context.Context) ([]keyring.Entry, error) {
	c, err := v.readWhole()
	var out []keyring.Entry
	for _, name := range slices.Sorted(maps.Keys(c.Entries)) {
		out = append(out, c.Entries[name].entry(name))
	}
	return out, err
}

// Sweep implements keyring.Keeper.
func (v *Vault) Sweep(_ context.Context, names []string) error {
	if _, err := os.Stat(v.file()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := v.change("vault.sweep", func(c *content) error {
		maps.DeleteFunc(c.Entries, func(name string, _ sealed) bool { return !slices.Contains(names, name) })
		return nil
	})
	return errors.Join(err, durablefile.RemoveUnfinished(v.dir))
}

// Describe implements keyring.Keeper.
func (v *Vault) Describe(_ context.Context, name string) keyring.Description {
	_, e, err := v.entry(name)
	return keyring.Description{Where: v.file(), SetAt: e.SetAt, Err: err}
}

// Read implements keyring.Reader.
func (v *Vault) Read(_ context.Context, name string) (string, error) {
	key, _, err := v.entry(name)
	return key, err
}

// Open implements keyring.Vault.
func (v *Vault) Open(_ context.Context, name string, permits func(choir.VaultBinding) error) (string, error) {
	key, e, err := v.entry(name)
	switch {
	case err != nil:
		return "", err
	case e.Bound == nil:
		return "", choir.Refuse("vault", choir.ReasonVaultNoEntry, choir.TextOf("name", name))
	}
	if err := permits(*e.Bound); err != nil {
		return "", err
	}
	return key, nil
}

// Keys implements keyring.Vault.
func (v *Vault) Keys(_ context.Context, wanted func(keyring.Entry) bool) (map[string]string, error) {
	c, err := v.readWhole()
	out := map[string]string{}
	for name, e := range c.Entries {
		if wanted == nil || wanted(e.entry(name)) {
			out[name] = e.Key
		}
	}
	return out, err
}

// entry returns an entry with its key.
func (v *Vault) entry(name string) (string, keyring.Entry, error) {
	if err := keyring.CheckName(name); err != nil {
		return "", keyring.Entry{}, err
	}
	c, err := v.readWhole()
	if err != nil {
		return "", keyring.Entry{}, err
	}
	e, ok := c.Entries[name]
	if !ok {
		return "", keyring.Entry{}, choir.Refuse("vault", choir.ReasonVaultNoEntry, choir.TextOf("name", name))
	}
	return e.Key, e.entry(name), nil
}

// Rotate implements keyring.Vault. In between the file of the master key has both.
func (v *Vault) Rotate(context.Context) error {
	v.changing.Lock()
	defer v.changing.Unlock()
	c, err := v.read()
	if err != nil {
		return err
	}
	old, err := v.identities()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fresh, err := age.GenerateX25519Identity()
	if err != nil {
		return choir.Wrap("vault.rotate", choir.CodeInternal, err, "make a master key")
	}
	err = v.writeMaster(append([]*age.X25519Identity{fresh}, old...))
	if err == nil {
		err = v.write(c, fresh)
	}
	if err == nil {
		err = v.writeMaster([]*age.X25519Identity{fresh})
	}
	return kept("vault.rotate", err)
}

// change reads the entries, changes them and writes them. After an error of do they stay.
func (v *Vault) change(op string, do func(*content) error) error {
	v.changing.Lock()
	defer v.changing.Unlock()
	c, err := v.read()
	if err != nil {
		return err
	}
	if err := do(&c); err != nil {
		return err
	}
	master, err := v.newest()
	if err == nil {
		err = v.write(c, master)
	}
	return kept(op, err)
}

// kept returns the error of a write that did not succeed, or not for certain.
func kept(op string, err error) error {
	if errors.Is(err, durablefile.ErrReplaced) {
		err = fmt.Errorf("%w: %w", keyring.ErrUncertain, err)
	}
	return choir.Wrap(op, choir.CodeUnavailable, err, "write the vault")
}

// readWhole returns the decrypted entries without waiting for a change. Each file is replaced in
// one step, but a change of the master key may replace one between the reading of the two; then
// both are read again.
func (v *Vault) readWhole() (content, error) {
	for {
		before := v.replaced.Load()
		c, err := v.read()
		if err == nil || v.replaced.Load() == before {
			return c, err
		}
	}
}

// replace replaces a file of the vault and counts it. A reader that has the old entries and the
// new master key alone began before the entries were counted.
func (v *Vault) replace(path string, raw []byte) error {
	defer v.replaced.Add(1)
	return durablefile.Write(path, raw)
}

// read returns the decrypted entries; none when there is no file yet.
func (v *Vault) read() (content, error) {
	c := content{Version: version, Entries: map[string]sealed{}}
	raw, err := os.ReadFile(v.file())
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, choir.Wrap("vault", choir.CodeUnavailable, err, "read the vault")
	}
	masters, err := v.identities()
	if err != nil {
		return c, unreadable(v.master(), err)
	}
	var all []age.Identity
	for _, m := range masters {
		all = append(all, m)
	}
	plain, err := age.Decrypt(bytes.NewReader(raw), all...)
	if err == nil {
		err = json.NewDecoder(plain).Decode(&c)
	}
	if err == nil && c.Version != version {
		err = errors.New("another version of choir wrote it")
	}
	if err != nil {
		return content{}, unreadable(v.file(), err)
	}
	if c.Entries == nil {
		c.Entries = map[string]sealed{}
	}
	return c, nil
}

// unreadable returns the error of a file of the vault that cannot be used.
func unreadable(path string, err error) error {
	if choir.CodeOf(err) == choir.CodeRefused {
		return err
	}
	return choir.Refuse("vault", choir.ReasonVaultUnreadable, choir.TextOf("path", path), choir.TextOf("why", err))
}

// write encrypts the entries for a master key and replaces the file.
func (v *Vault) write(c content, master *age.X25519Identity) error {
	var out bytes.Buffer
	w, err := age.Encrypt(&out, master.Recipient())
	if err != nil {
		return err
	}
	if err := errors.Join(json.NewEncoder(w).Encode(c), w.Close()); err != nil {
		return err
	}
	return v.replace(v.file(), out.Bytes())
}

// newest returns the master key to encrypt with, and makes one when there is none.
func (v *Vault) newest() (*age.X25519Identity, error) {
	masters, err := v.identities()
	if err == nil {
		return masters[0], nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	fresh, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	return fresh, v.writeMaster([]*age.X25519Identity{fresh})
}

// identities returns the master keys, the newest first. Code refused: others can read them.
func (v *Vault) identities() ([]*age.X25519Identity, error) {
	f, err := os.Open(v.master())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, choir.Refuse("vault", choir.ReasonKeyFileOpen, choir.TextOf("path", v.master()))
	}
	all, err := age.ParseIdentities(io.LimitReader(f, 64<<10))
	if err != nil {
		return nil, errors.New("it holds no master key") // the words of the parser could quote it
	}
	var out []*age.X25519Identity
	for _, one := range all {
		if id, ok := one.(*age.X25519Identity); ok {
			out = append(out, id)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("it holds no master key")
	}
	return out, nil
}

// writeMaster replaces the file of the master keys.
func (v *Vault) writeMaster(all []*age.X25519Identity) error {
	if err := os.MkdirAll(v.dir, 0o700); err != nil {
		return err
	}
	if err := errors.Join(os.Chmod(v.dir, 0o700), durablefile.SyncFolder(filepath.Dir(v.dir))); err != nil {
		return err
	}
	var out bytes.Buffer
	for _, one := range all {
		fmt.Fprintln(&out, one)
	}
	return v.replace(v.master(), out.Bytes())
}

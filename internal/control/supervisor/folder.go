package supervisor

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/durablefile"
	"choiros/internal/fault"
	"choiros/internal/filelock"
	"choiros/internal/guestbin"
)

// folder is the locked data folder of a control plane.
type folder struct {
	path  string
	lock  *os.File
	owner owner
}

// owner is the content of owner.json: the user of the data folder and its computers.
type owner struct {
	User choir.ID `json:"user"`
	// Phrase is shown to the user on the shell's pages that ask for keys and answers; empty
	// for none.
	Phrase    string  `json:"phrase,omitempty"`
	Computers []entry `json:"computers"`
}

// entry is one computer in owner.json.
type entry struct {
	ID   choir.ID `json:"id"`
	Name string   `json:"name"`
	// HostUID and DirectorUID are the host users of the Associate's and the Director's
	// sandbox, if the control plane is root.
	HostUID     int `json:"host_uid,omitempty"`
	DirectorUID int `json:"director_uid,omitempty"`
	// DiskProject is the number under which the file system counts and limits the
	// workspace; 0 means no limit.
	DiskProject uint32 `json:"disk_project,omitempty"`
}

// firstHostUID is the smallest host user that any choir gave a sandbox. Smaller ones
// belong to people and services.
const firstHostUID = 600_000

// openFolder creates the data folder if it is absent, locks it, and reads or creates
// owner.json. A refused path is not created. Code conflict: another choir uses the
// folder.
func openFolder(path string, now func() time.Time, random io.Reader) (*folder, error) {
	f := &folder{path: path}
	if err := errors.Join(f.mustBePossible(), f.closeToOthers()); err != nil {
		return nil, err
	}
	if err := f.makeFolders(); err != nil {
		return nil, choir.Wrap("choir.data", choir.CodeUnavailable, err, "make the data folder %s", path)
	}
	if err := f.lockFolder(); err != nil {
		return nil, err
	}
	err := f.removeUnfinished()
	if err == nil {
		err = f.readOwner(now, random)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// removeUnfinished removes temporary files that a crash left.
func (f *folder) removeUnfinished() error {
	err := errors.Join(durablefile.RemoveUnfinished(f.path), durablefile.RemoveUnfinished(filepath.Join(f.path, "keys")))
	return choir.Wrap("choir.data", choir.CodeUnavailable, err, "remove unfinished files from %s", f.path)
}

// makeFolders creates the data folder and its subfolders with their modes, whatever the
// umask.
func (f *folder) makeFolders() error {
	if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(f.path, 0o711); err != nil {
			return err
		}
		if err := os.Chmod(f.path, 0o711); err != nil {
			return err
		}
	}
	for _, dir := range []struct {
		name string
		mode os.FileMode
	}{{"keys", 0o700}, {"bus", 0o700}, {"guest", 0o711}, {"computers", 0o711}} {
		path := filepath.Join(f.path, dir.name)
		if err := os.MkdirAll(path, dir.mode); err != nil {
			return err
		}
		if err := os.Chmod(path, dir.mode); err != nil {
			return err
		}
	}
	return nil
}

// lockPatience is the time to wait for another choir to release the folder: the program that a killed
// one was starting has its lock until then, on a busy machine for some seconds.
const lockPatience = 5 * time.Second

// lockFolder locks the folder until close or the end of the process. Code conflict:
// another choir holds the lock.
func (f *folder) lockFolder() error {
	lock, err := os.OpenFile(filepath.Join(f.path, "choir.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return choir.Wrap("choir.data", choir.CodeUnavailable, err, "open the lock of %s", f.path)
	}
	if err = filelock.Acquire(lock, lockPatience, nil); err != nil {
		lock.Close()
		if !errors.Is(err, filelock.ErrHeld) {
			return choir.Wrap("choir.data", choir.CodeUnavailable, err, "lock %s", f.path)
		}
		return choir.Refuse("choir.data", choir.ReasonFolderInUse, choir.TextOf("path", f.path))
	}
	f.lock = lock
	return nil
}

// mustBePossible returns code unavailable if the path cannot be a folder, before
// anything is created. Whether sandboxes can mount it is the driver's test.
func (f *folder) mustBePossible() error {
	for dir := f.path; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && info.IsDir() {
			return nil
		}
		if err == nil {
			return choir.Refuse("choir.data", choir.ReasonFolderNoFolder, choir.TextOf("path", f.path), choir.TextOf("other", dir))
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) || dir == filepath.Dir(dir) {
			return choir.Wrap("choir.data", choir.CodeUnavailable, err, "look at %s", dir)
		}
	}
}

// ours are the names of choir's files in a data folder.
var ours = []string{"choir.lock", "choir.log", "choir.log.1", "choir.sock", "choir.toml", config.ConnectedFile, config.NetworkFile, "owner.json", "keys", "bus", "guest", "computers", "sandbox", packagesFolder}

// closeToOthers removes the permissions of other users to list and write an existing
// data folder. A folder that also contains foreign files keeps its mode; code refused if
// other users can write to it, because they could replace choir's files.
func (f *folder) closeToOthers() error {
	var st unix.Stat_t
	err := unix.Stat(f.path, &st)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it will be made as it must be
	}
	entries, readErr := os.ReadDir(f.path)
	if err := errors.Join(err, readErr); err != nil {
		return choir.Wrap("choir.data", choir.CodeUnavailable, err, "look at %s", f.path)
	}
	shared := int(st.Uid) != os.Geteuid() || slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !slices.Contains(ours, e.Name()) && !strings.HasPrefix(e.Name(), ".new-")
	})
	switch {
	case !shared && st.Mode&0o066 != 0:
		return choir.Wrap("choir.data", choir.CodeUnavailable, os.Chmod(f.path, os.FileMode(st.Mode&0o711)), "close %s to others", f.path)
	case shared && st.Mode&0o022 != 0:
		return choir.Refuse("choir.data", choir.ReasonFolderWritable, choir.TextOf("path", f.path))
	}
	return nil
}

// loadOwner reads owner.json. Code not_found: data is not a data folder yet; corrupt:
// the file is damaged.
func loadOwner(data string) (owner, error) {
	var o owner
	path := filepath.Join(data, "owner.json")
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return o, choir.Refuse("choir.data", choir.ReasonFolderWithoutComputer, choir.TextOf("path", data))
	}
	if err != nil {
		return o, choir.Wrap("choir.data", choir.CodeUnavailable, err, "read %s", path)
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return o, choir.Wrap("choir.data", choir.CodeCorrupt, err, "read %s", path)
	}
	return o, o.check(path)
}

// check returns code corrupt for values that no choir writes, because ids become paths,
// and sandboxes run as the host users.
func (o owner) check(path string) error {
	damaged := choir.Refuse("choir.data", choir.ReasonFileDamaged, choir.TextOf("path", path))
	if !o.User.Valid() || len(o.Computers) == 0 {
		return damaged
	}
	for _, c := range o.Computers {
		if !c.ID.Valid() || c.HostUID != 0 && c.HostUID < firstHostUID || c.DirectorUID != 0 && c.DirectorUID < firstHostUID ||
			c.DiskProject != 0 && c.DiskProject < firstDrawnProject {
			return damaged
		}
	}
	return nil
}

// mustBeOurs returns code conflict if root opens the data folder of an ordinary user,
// whose sandboxes have no host users of their own.
func (o owner) mustBeOurs(path string) error {
	for _, c := range o.Computers {
		if IsRoot() && c.HostUID == 0 {
			return choir.Refuse("choir.data", choir.ReasonFolderOfUser, choir.TextOf("path", path))
		}
	}
	return nil
}

// readOwner reads owner.json, or creates it with a first computer.
func (f *folder) readOwner(now func() time.Time, random io.Reader) (err error) {
	f.owner, err = loadOwner(f.path)
	if err == nil {
		if err = f.owner.mustBeOurs(f.path); err == nil {
			err = f.completeOwner(random)
		}
		return err
	}
	if choir.CodeOf(err) != choir.CodeNotFound {
		return err
	}
	at := choir.TimeOf(now())
	if f.owner.User, err = choir.NewID(at, random); err != nil {
		return err
	}
	first := entry{Name: "My computer"}
	if first.ID, err = choir.NewID(at, random); err != nil {
		return err
	}
	f.owner.Computers = []entry{first}
	if IsRoot() {
		users, err := newUIDAllocator(random)
		if err != nil {
			return err
		}
		if _, err := f.owner.assignUIDs(users); err != nil {
			return err
		}
	}
	// As for every computer its folder comes first, and gets its name later.
	if err = f.makeUnfinished(first.ID); err != nil {
		return err
	}
	if err = durablefile.SyncFolder(f.computers()); err != nil {
		return choir.Wrap("choir.data", choir.CodeUnavailable, err, "make the data folder %s", f.path)
	}
	return f.writeOwner(f.owner)
}

// completeOwner assigns host users to sandboxes of an older choir without them, if the
// control plane is root.
func (f *folder) completeOwner(random io.Reader) error {
	if !IsRoot() {
		return nil
	}
	users, err := newUIDAllocator(random)
	if err != nil {
		return err
	}
	drawn, err := f.owner.assignUIDs(users)
	if err != nil || !drawn {
		return err
	}
	return f.writeOwner(f.owner)
}

// writeOwner durably replaces owner.json.
func (f *folder) writeOwner(o owner) error {
	raw, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return choir.Wrap("choir.data", choir.CodeInternal, err, "encode the owner")
	}
	path := filepath.Join(f.path, "owner.json")
	return choir.Wrap("choir.data", choir.CodeUnavailable, durablefile.Write(path, raw), "write %s", path)
}

// installGuest writes the guest binaries to a folder from which sandboxes run them, unless they are
// there, and returns it. Their mode is execute-only, so that their processes cannot be dumped.
func (f *folder) installGuest() (string, error) {
	sum, err := guestbin.Checksum()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(f.path, "guest", sum[:16])
	if err := removeOthers(dir); err != nil {
		return "", err
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".new-*")
	if err != nil {
		return "", choir.Wrap("choir.data", choir.CodeUnavailable, err, "make the folder of guest binaries")
	}
	for _, name := range guestbin.Names() {
		if err := writeGuest(filepath.Join(tmp, name), name); err != nil {
			return "", choir.Wrap("choir.data", choir.CodeUnavailable, errors.Join(err, os.RemoveAll(tmp)), "write %s", name)
		}
	}
	err = errors.Join(os.Chmod(tmp, 0o755), durablefile.SyncFolder(tmp))
	if err == nil {
		fault.Point("data.guest.rename")
		err = errors.Join(os.Rename(tmp, dir), durablefile.SyncFolder(filepath.Dir(dir)))
	}
	return dir, choir.Wrap("choir.data", choir.CodeUnavailable, err, "install the guest binaries")
}

// writeGuest writes a guest binary to a new file, whose content survives a power cut. Later starts
// do not check a binary that has its final name.
func writeGuest(path, name string) error {
	from, err := guestbin.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o111)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	err = errors.Join(err, f.Chmod(0o111)) // whatever the umask
	fault.Point("data.guest.sync")
	return errors.Join(err, f.Sync(), f.Close())
}

// removeOthers removes the guest binaries of other builds of choir and the remains of
// interrupted installations, and no folder of another name, which is the owner's. A running
// sandbox of another build is not reused, so nothing starts from there.
func removeOthers(keep string) error {
	all, err := os.ReadDir(filepath.Dir(keep))
	for _, e := range all {
		_, digest := hex.DecodeString(e.Name())
		ours := digest == nil && len(e.Name()) == len(filepath.Base(keep)) || strings.HasPrefix(e.Name(), ".new-")
		if ours && e.Name() != filepath.Base(keep) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(filepath.Dir(keep), e.Name())))
		}
	}
	return choir.Wrap("choir.data", choir.CodeUnavailable, err, "clear %s", filepath.Dir(keep))
}

// close releases the folder's lock.
func (f *folder) close() error {
	if f.lock == nil {
		return nil
	}
	err := f.lock.Close()
	f.lock = nil
	return err
}

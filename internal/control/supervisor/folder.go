package supervisor

import (
	"crypto/sha256"
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
	"choiros/internal/durablefile"
	"choiros/internal/fault"
	"choiros/internal/filelock"
	"choiros/internal/guestbin"
)

// folder is the data folder of a control plane.
type folder struct {
	path  string
	lock  *os.File
	owner owner
}

// owner is who the data folder belongs to, and the computers in it.
type owner struct {
	User      choir.ID `json:"user"`
	Computers []entry  `json:"computers"`
}

// entry is one computer of the data folder.
type entry struct {
	ID   choir.ID `json:"id"`
	Name string   `json:"name"`
	// HostUID and DirectorUID are the host users of the Associate's and of the
	// Director's sandbox when the control plane is root.
	HostUID     int `json:"host_uid,omitempty"`
	DirectorUID int `json:"director_uid,omitempty"`
	// DiskProject is the number by which the file system counts and limits what the
	// workspace takes; 0 without a limit.
	DiskProject uint32 `json:"disk_project,omitempty"`
}

// firstHostUID is the smallest number that a sandbox's host user ever had; what
// is below belongs to people and services.
const firstHostUID = 600_000

// openFolder makes the data folder when it is absent, locks it, and reads or
// makes its owner. A folder that is refused is not made.
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
	if err := f.readOwner(now, random); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// makeFolders sets each mode, whatever the umask was.
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

// lockPatience is how long another choir may take to let go of the folder.
const lockPatience = time.Second

// lockFolder locks the folder; the kernel gives the lock back when choir dies.
func (f *folder) lockFolder() error {
	lock, err := os.OpenFile(filepath.Join(f.path, "choir.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return choir.Wrap("choir.data", choir.CodeUnavailable, err, "open the lock of %s", f.path)
	}
	if err = filelock.Take(lock, lockPatience, nil); err != nil {
		lock.Close()
		if !errors.Is(err, filelock.ErrHeld) {
			return choir.Wrap("choir.data", choir.CodeUnavailable, err, "lock %s", f.path)
		}
		return choir.E("choir.data", choir.CodeConflict, "another choir is running on %s", f.path).
			WithRemedy("use that one, stop it, or give another folder with --data")
	}
	f.lock = lock
	return nil
}

// mustBePossible refuses a path on which a folder cannot be, before anything is
// made. Whether sandboxes can be shown what lies there the driver has tried.
func (f *folder) mustBePossible() error {
	for dir := f.path; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && info.IsDir() {
			return nil
		}
		if err == nil {
			return choir.E("choir.data", choir.CodeUnavailable, "the data folder %s cannot be made: %s is no folder", f.path, dir)
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) || dir == filepath.Dir(dir) {
			return choir.Wrap("choir.data", choir.CodeUnavailable, err, "look at %s", dir)
		}
	}
}

// ours are the names of what choir puts into a data folder.
var ours = []string{"choir.lock", "choir.log", "choir.log.1", "choir.sock", "choir.toml", "models.toml", "owner.json", "keys", "bus", "guest", "computers", "sandbox"}

// closeToOthers takes from others, in a data folder that was there, the right to
// list it and to write to it. A folder that choir shares with other things keeps
// its mode, and is refused when others can write to it: they could put what they
// like in the place of what choir made.
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
		return choir.E("choir.data", choir.CodeRefused, "others can write to the data folder %s, in which there are other things than choir's", f.path).
			WithRemedy("give a folder of its own with --data, or: chmod go-w %s", f.path)
	}
	return nil
}

// loadOwner reads who the data folder belongs to; code not_found when it is not
// a data folder yet.
func loadOwner(data string) (owner, error) {
	var o owner
	path := filepath.Join(data, "owner.json")
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return o, choir.E("choir.data", choir.CodeNotFound, "there is no computer in %s yet", data).WithRemedy("start one with: choir up --data %s", data)
	}
	if err != nil {
		return o, choir.Wrap("choir.data", choir.CodeUnavailable, err, "read %s", path)
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return o, choir.Wrap("choir.data", choir.CodeCorrupt, err, "read %s", path)
	}
	return o, o.check(path)
}

// check refuses what no choir wrote: ids become paths, and a host user is who a
// sandbox runs as.
func (o owner) check(path string) error {
	damaged := choir.E("choir.data", choir.CodeCorrupt, "%s is damaged", path).WithRemedy("restore it from a backup")
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

// mustBeOurs refuses root the data folder of an ordinary user, whose sandboxes
// have no users of their own.
func (o owner) mustBeOurs(path string) error {
	for _, c := range o.Computers {
		if IsRoot() && c.HostUID == 0 {
			return choir.E("choir.data", choir.CodeConflict, "the data folder %s was made by an ordinary user", path).
				WithRemedy("run choir as that user, or give another folder with --data")
		}
	}
	return nil
}

// readOwner reads the owner, or makes one with a first computer.
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

// completeOwner gives host users to the sandboxes that an older choir gave none.
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

// writeOwner replaces owner.json.
func (f *folder) writeOwner(o owner) error {
	raw, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return choir.Wrap("choir.data", choir.CodeInternal, err, "encode the owner")
	}
	path := filepath.Join(f.path, "owner.json")
	return choir.Wrap("choir.data", choir.CodeUnavailable, durablefile.Write(path, raw), "write %s", path)
}

// installGuest puts the guest binaries where sandboxes can run them: readable
// by nobody, so that they can never be dumped.
func (f *folder) installGuest() (string, error) {
	h := sha256.New()
	content := map[string][]byte{}
	for _, name := range guestbin.Names() {
		b, err := guestbin.Read(name)
		if err != nil {
			return "", err
		}
		content[name] = b
		h.Write(b)
	}
	dir := filepath.Join(f.path, "guest", hex.EncodeToString(h.Sum(nil))[:16])
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
	for name, b := range content {
		path := filepath.Join(tmp, name)
		err := writeSynced(path, b, 0o111)
		if err == nil {
			err = os.Chmod(path, 0o111) // whatever the umask
		}
		if err != nil {
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

// writeSynced makes a new file whose content survives a power cut: nobody would
// notice later that a binary under its final name is half there.
func writeSynced(path string, content []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	fault.Point("data.guest.sync")
	return errors.Join(err, f.Sync(), f.Close())
}

// removeOthers takes away what other builds of choir installed, and what a crash
// left of an installation. A sandbox of another build that still lives is not
// taken up again, so nothing is started from there any more.
func removeOthers(keep string) error {
	all, err := os.ReadDir(filepath.Dir(keep))
	for _, e := range all {
		if e.Name() != filepath.Base(keep) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(filepath.Dir(keep), e.Name())))
		}
	}
	return choir.Wrap("choir.data", choir.CodeUnavailable, err, "clear %s", filepath.Dir(keep))
}

// close gives the folder back.
func (f *folder) close() error {
	if f.lock == nil {
		return nil
	}
	err := f.lock.Close()
	f.lock = nil
	return err
}

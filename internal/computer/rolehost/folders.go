package rolehost

import (
	"errors"
	"os"
	"path/filepath"

	"choiros/internal/choir"
)

// oldSockets are doors that choir listened at in the folder of the control door
// once; a sandbox of that time may have left them.
var oldSockets = []string{"bus.sock", "egress.sock"}

// makeFolders gives the sandbox's user what it must reach and nothing more. Each
// mode and owner is set again, whatever the umask was or a crash left undone.
func (s *seat) makeFolders() error {
	uid := s.h.cfg.HostUIDs[s.role]
	doors := s.doorsFolder()
	folders := []folder{{path: s.dir, mode: 0o711, uid: -1, gid: -1}, {path: doors, mode: 0o700}}
	if s.role == choir.RoleAssociate {
		folders = append(folders, folder{s.workspace(), 0o700, uid, uid, true})
	}
	for _, f := range folders {
		if err := f.make(); err != nil {
			return err
		}
	}
	s.limitDisk()
	for _, name := range oldSockets {
		if err := os.Remove(filepath.Join(doors, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// folder is one that a sandbox can reach; uid and gid count for root only.
type folder struct {
	path     string
	mode     os.FileMode
	uid, gid int
	owned    bool // by the computer's user, who may change its mode
}

func (f folder) make() error {
	err := os.Mkdir(f.path, f.mode)
	made := err == nil
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if os.Geteuid() == 0 {
		if err := os.Lchown(f.path, f.uid, f.gid); err != nil {
			return err
		}
	}
	if !made && f.owned {
		return nil // the workspace's mode is its owner's business, and part of its snapshots
	}
	return os.Chmod(f.path, f.mode)
}

// doorsFolder is where the driver listens at the control door.
func (s *seat) doorsFolder() string { return filepath.Join(s.dir, "doors") }

// limitDisk puts a new workspace under the computer's disk limit. One that was
// filled before stays without, and the doctor says so.
func (s *seat) limitDisk() {
	if s.h.cfg.Disk == nil || s.role != choir.RoleAssociate {
		return
	}
	err := s.h.cfg.Disk.Hold(s.workspace())
	if s.diskHeld = err == nil; err != nil {
		s.h.cfg.Log.Warn("the disk of a computer is not limited", "computer", s.h.cfg.ID, "error", err)
	}
}

package rolehost

import (
	"errors"
	"os"
	"path/filepath"

	"choiros/internal/choir"
)

// oldSockets are sockets in the folder of the control door that older versions of choir
// made and may have left.
var oldSockets = []string{"bus.sock", "egress.sock"}

// makeFolders creates the folders of the seat's sandbox with exactly the access that the
// sandbox's user needs. Mode and owner are set even if a folder exists. Only that user enters the
// folder around them: the workspace's own mode is the guest's, who may open it to everybody and leave
// programs there that run as the sandbox's user.
func (s *seat) makeFolders() error {
	uid := s.h.cfg.HostUIDs[s.role]
	doors := s.doorsFolder()
	around := os.FileMode(0o710)
	if os.Geteuid() != 0 {
		around = 0o700 // the sandbox's user is this one, and others may be in its group
	}
	folders := []folder{{path: s.dir, mode: around, uid: -1, gid: uid}, {path: doors, mode: 0o700}}
	if s.role == choir.RoleAssociate && !s.copied() {
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

// folder is a folder to create for a sandbox; uid and gid are set by root only.
type folder struct {
	path     string
	mode     os.FileMode
	uid, gid int
	owned    bool // the sandbox's user may change its mode, so an existing folder keeps it
}

// make creates the folder and sets its owner and mode.
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

// doorsFolder returns the folder in which the driver creates the control door's socket.
func (s *seat) doorsFolder() string { return filepath.Join(s.dir, "doors") }

// limitDisk puts the workspace under the computer's disk limit and sets s.diskHeld. A
// workspace with files from before the limit stays unlimited, with a warning.
func (s *seat) limitDisk() {
	if s.h.cfg.Disk == nil || s.role != choir.RoleAssociate || s.copied() {
		return
	}
	err := s.h.cfg.Disk.Hold(s.workspace())
	if s.diskHeld = err == nil; err != nil {
		s.h.cfg.Log.Warn("the disk of a computer is not limited", "computer", s.h.cfg.ID, "error", err)
	}
}

package computer

import "choiros/internal/choir"

// limitDisk puts a new workspace under the computer's disk limit. One that was
// filled before stays without, and the doctor says so.
func (s *seat) limitDisk() {
	if s.c.cfg.Disk == nil || s.role != choir.RoleAssociate {
		return
	}
	err := s.c.cfg.Disk.Hold(s.workspace())
	if s.diskHeld = err == nil; err != nil {
		s.c.cfg.Log.Warn("the disk of a computer is not limited", "computer", s.c.cfg.ID, "error", err)
	}
}

package computer

import (
	"encoding/json"
	"os"
	"path/filepath"

	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/sandbox"
)

// seatNote is what survives a restart of the control plane.
type seatNote struct {
	Handle    sandbox.Handle `json:"handle"`
	PublicKey string         `json:"public_key,omitempty"`
	// Guest is the build of what runs inside.
	Guest string `json:"guest,omitempty"`
}

// guestBuild names the build of the binaries that this control plane runs inside
// its sandboxes.
func (c *Config) guestBuild() string { return filepath.Base(c.Guest) }

func (s *seat) notePath() string {
	return filepath.Join(s.c.cfg.Dir, "handles", string(s.role)+".json")
}

func (s *seat) readNote() (seatNote, error) {
	var n seatNote
	raw, err := os.ReadFile(s.notePath())
	if err == nil {
		err = json.Unmarshal(raw, &n)
	}
	return n, err
}

// writeNote replaces the note at once, so that a crash leaves the old or the new.
func (s *seat) writeNote(n seatNote) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return choir.Wrap("computer.note", choir.CodeInternal, err, "encode the handle")
	}
	if err := os.MkdirAll(filepath.Dir(s.notePath()), 0o700); err != nil {
		return choir.Wrap("computer.note", choir.CodeUnavailable, err, "make the folder of handles")
	}
	tmp := s.notePath() + ".new"
	if err := os.WriteFile(tmp, raw, 0o600); err != nil {
		return choir.Wrap("computer.note", choir.CodeUnavailable, err, "write the handle")
	}
	fault.Point("computer.note.rename")
	return choir.Wrap("computer.note", choir.CodeUnavailable, os.Rename(tmp, s.notePath()), "write the handle")
}

package rolehost

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"choiros/internal/choir"
	"choiros/internal/computer/syncedfile"
	"choiros/internal/fault"
	"choiros/internal/sandbox"
)

// seatNote is what survives a restart of the control plane.
type seatNote struct {
	Handle    sandbox.Handle `json:"handle"`
	PublicKey string         `json:"public_key,omitempty"`
	// Guest is the build of what runs inside.
	Guest string `json:"guest,omitempty"`
	// Boot names the time since the machine was started.
	Boot string `json:"boot,omitempty"`
}

// guestBuild names the build of the binaries that this control plane runs inside
// its sandboxes.
func (c *Config) guestBuild() string { return filepath.Base(c.Guest) }

func (s *seat) notePath() string {
	return filepath.Join(s.h.cfg.Dir, "handles", string(s.role)+".json")
}

// readNote reads the note; code not_found when there is none.
func (s *seat) readNote() (seatNote, error) {
	var n seatNote
	raw, err := os.ReadFile(s.notePath())
	if errors.Is(err, fs.ErrNotExist) {
		return n, choir.Wrap("computer.note", choir.CodeNotFound, err, "read the handle of the %s's sandbox", s.role)
	}
	if err != nil {
		return n, choir.Wrap("computer.note", choir.CodeUnavailable, err, "read the handle of the %s's sandbox", s.role)
	}
	if err := json.Unmarshal(raw, &n); err != nil {
		e := choir.E("computer.note", choir.CodeCorrupt, "%s, which names the %s's sandbox of the last session, is damaged: %v", s.notePath(), s.role, err)
		return n, e.WithRemedy("%s", s.byHand())
	}
	return n, nil
}

// byHand is what to do about a sandbox that this choir cannot find.
func (s *seat) byHand() string {
	return "stop choir, wait " + strconv.Itoa(sandbox.OrphanSeconds) + " s so that what it left has ended, see that no choir-init of this computer runs, and remove " + s.notePath()
}

// writeNote replaces the note at once, so that a crash or a power cut leaves the
// old or the new.
func (s *seat) writeNote(n seatNote) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return choir.Wrap("computer.note", choir.CodeInternal, err, "encode the handle")
	}
	if err := os.MkdirAll(filepath.Dir(s.notePath()), 0o700); err != nil {
		return choir.Wrap("computer.note", choir.CodeUnavailable, err, "make the folder of handles")
	}
	tmp := s.notePath() + ".new"
	if err := syncedfile.Write(tmp, raw); err != nil {
		return err
	}
	fault.Point("computer.note.rename")
	if err := os.Rename(tmp, s.notePath()); err != nil {
		return choir.Wrap("computer.note", choir.CodeUnavailable, err, "write the handle")
	}
	return choir.Wrap("computer.note", choir.CodeUnavailable, syncedfile.SyncFolder(filepath.Dir(s.notePath())), "write the handle")
}

func (s *seat) noteOf(l *live, key string) seatNote {
	return seatNote{Handle: l.sandbox.Handle(), PublicKey: key, Guest: s.h.cfg.guestBuild(), Boot: s.h.cfg.Boot}
}

// findOrCreate recovers the sandbox of the last session when it lives, and makes
// one when that one has ended for certain: two would write into one workspace.
// Every other answer of the driver is an error, and the caller tries again.
func (s *seat) findOrCreate(ctx context.Context, l *live) (recovered bool, err error) {
	note, err := s.readNote()
	if err == nil {
		if recovered, err = s.recover(ctx, l, note); recovered {
			return true, nil
		}
	}
	if err != nil && choir.CodeOf(err) != choir.CodeNotFound {
		return false, err
	}
	l.sandbox, err = s.h.cfg.Driver.Create(ctx, s.spec())
	if err != nil {
		return false, err
	}
	s.setKey("")
	return false, s.writeNote(s.noteOf(l, ""))
}

// recover takes up the sandbox of a note. One that another build of choir left is
// ended: what runs inside speaks that build's words. So is one of another rung than
// new sandboxes have. It reports false without an
// error, or code not_found, when the sandbox has ended, and code conflict when
// this driver does not understand the handle and the sandbox may live.
func (s *seat) recover(ctx context.Context, l *live, note seatNote) (bool, error) {
	found, err := s.h.cfg.Driver.Recover(ctx, note.Handle)
	if choir.CodeOf(err) == choir.CodeInvalid {
		if note.Boot != "" && s.h.cfg.Boot != "" && note.Boot != s.h.cfg.Boot {
			return false, nil // no process outlives a restart of the machine
		}
		e := choir.E("computer.recover", choir.CodeConflict, "the %s's sandbox of the last session was made by driver %q, version %d, which this choir cannot find again",
			s.role, note.Handle.Driver, note.Handle.Version)
		e.Err = err
		return false, e.WithRemedy("start the choir that made it, and stop it in order; or: %s", s.byHand())
	}
	if err != nil {
		return false, err
	}
	if note.Guest != s.h.cfg.guestBuild() || note.Handle.Driver != s.h.cfg.Driver.Name() {
		return false, found.Destroy(ctx)
	}
	l.sandbox = found
	s.setKey(note.PublicKey)
	return true, nil
}

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
	"choiros/internal/durablefile"
	"choiros/internal/fault"
	"choiros/internal/sandbox"
)

// seatNote is the stored state of a sandbox, by which it is found after a restart of the
// control plane.
type seatNote struct {
	Handle    sandbox.Handle `json:"handle"`
	PublicKey string         `json:"public_key,omitempty"`
	// Guest is the build of the programs inside.
	Guest string `json:"guest,omitempty"`
	// Boot identifies the machine's current boot.
	Boot string `json:"boot,omitempty"`
	// Copied means that the sandbox has its own copy of the workspace, Unfilled that the copy
	// is still empty.
	Copied   bool `json:"copied,omitempty"`
	Unfilled bool `json:"unfilled,omitempty"`
}

// guestBuild returns the build of the guest binaries of this control plane.
func (c *Config) guestBuild() string { return filepath.Base(c.Guest) }

// notePath returns the path of the seat's note.
func (s *seat) notePath() string {
	return filepath.Join(s.h.cfg.Dir, "handles", string(s.role)+".json")
}

// readNote returns the stored note. Code not_found: there is none; corrupt: it is damaged.
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

// byHand returns the remedy for a sandbox that this choir cannot find: what to do by hand.
func (s *seat) byHand() string {
	return "stop choir, wait " + strconv.Itoa(sandbox.OrphanSeconds) + " s so that what it left has ended, see that no choir-init of this computer runs, and remove " + s.notePath()
}

// noteFile writes notes durably, with a fault point.
var noteFile = durablefile.RenamedAt(func() { fault.Point("computer.note.rename") })

// writeNote replaces the note atomically and durably.
func (s *seat) writeNote(n seatNote) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return choir.Wrap("computer.note", choir.CodeInternal, err, "encode the handle")
	}
	if err := os.MkdirAll(filepath.Dir(s.notePath()), 0o700); err != nil {
		return choir.Wrap("computer.note", choir.CodeUnavailable, err, "make the folder of handles")
	}
	return choir.Wrap("computer.note", choir.CodeUnavailable, noteFile.Write(s.notePath(), raw), "write the handle")
}

// noteOf returns the note of a running sandbox with the role's public key.
func (s *seat) noteOf(l *live, key string) seatNote {
	return seatNote{
		Handle: l.sandbox.Handle(), PublicKey: key, Guest: s.h.cfg.guestBuild(), Boot: s.h.cfg.Boot,
		Copied: l.copied, Unfilled: l.unfilled,
	}
}

// findOrCreate recovers the sandbox of the last session if it lives, and creates a new one
// only if that one has certainly ended, because two would write to one workspace. It
// returns other errors of the driver, and the caller retries.
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
	l.copied = s.copied()
	l.unfilled = l.copied
	return false, s.writeNote(s.noteOf(l, ""))
}

// recover tries to recover the sandbox of a note into l and reports whether it did. It
// destroys a sandbox of another build or driver, because the programs inside speak that
// build's protocol. false without an error: the sandbox is gone. Code conflict: another
// driver made it; other errors: the sandbox may live.
func (s *seat) recover(ctx context.Context, l *live, note seatNote) (bool, error) {
	found, err := s.h.cfg.Driver.Recover(ctx, note.Handle)
	switch sandbox.VerdictOf(err) {
	case sandbox.Gone:
		return false, nil
	case sandbox.Unknown:
		return false, err
	case sandbox.NotMine:
		if note.Boot != "" && s.h.cfg.Boot != "" && note.Boot != s.h.cfg.Boot {
			return false, nil // no process outlives a restart of the machine
		}
		e := choir.E("computer.recover", choir.CodeConflict, "the %s's sandbox of the last session was made by driver %q, version %d, which this choir cannot find again",
			s.role, note.Handle.Driver, note.Handle.Version)
		e.Err = err
		return false, e.WithRemedy("start the choir that made it, and stop it in order; or: %s", s.byHand())
	}
	if note.Guest != s.h.cfg.guestBuild() || note.Handle.Driver != s.h.cfg.Driver.Name() {
		return false, found.Destroy(ctx)
	}
	l.sandbox = found
	l.copied, l.unfilled = note.Copied, note.Unfilled
	s.setKey(note.PublicKey)
	return true, nil
}

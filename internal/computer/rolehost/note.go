package rolehost

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

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
		return n, choir.Refuse("computer.note", choir.ReasonSeatNoteDamaged, choir.TextOf("path", s.notePath()), choir.TextOf("role", s.role), choir.TextOf("why", err),
			choir.CountOf("seconds", sandbox.OrphanSeconds))
	}
	return n, nil
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
		e := choir.Refuse("computer.recover", choir.ReasonSeatOtherDriver, choir.TextOf("role", s.role), choir.TextOf("driver", note.Handle.Driver), choir.TextOf("version", note.Handle.Version),
			choir.CountOf("seconds", sandbox.OrphanSeconds), choir.TextOf("path", s.notePath()))
		e.Err = err
		return false, e
	}
	if note.Guest != s.h.cfg.guestBuild() || note.Handle.Driver != s.h.cfg.Driver.Name() {
		return false, found.Destroy(ctx)
	}
	l.sandbox = found
	l.copied, l.unfilled = note.Copied, note.Unfilled
	s.setKey(note.PublicKey)
	return true, nil
}

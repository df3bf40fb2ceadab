package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/workspace"
	"choiros/internal/durablefile"
)

// closedName is the name of the file in a computer's folder that is there only while the
// computer is closed and nothing remains to be done before the next request for it. The
// next start of choir leaves such a computer closed.
const closedName = "closed.json"

// closedNote is the content of the file closedName. Segment and Size are the name and the
// length of the journal's last file, by which a note is recognised that is older than the
// log, as after a session of a choir that does not know such notes.
type closedNote struct {
	Head    uint64 `json:"head"` // the number of the newest event
	Segment string `json:"segment"`
	Size    int64  `json:"size"`
}

func (f *folder) closedPath(id choir.ID) string { return filepath.Join(f.finished(id), closedName) }

// readClosed returns the note of a closed computer; false if there is none that is true.
func (f *folder) readClosed(id choir.ID) (closedNote, bool) {
	raw, err := os.ReadFile(f.closedPath(id))
	if err != nil {
		return closedNote{}, false
	}
	var n closedNote
	if json.Unmarshal(raw, &n) != nil {
		return closedNote{}, false
	}
	last, err := lastSegment(f.finished(id))
	return n, err == nil && last.Name() == n.Segment && last.Size() == n.Size
}

// removeClosed durably removes the note of a computer that is about to be opened.
func (f *folder) removeClosed(id choir.ID) error {
	if _, err := os.Lstat(f.closedPath(id)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return choir.Wrap("computer.open", choir.CodeUnavailable, durablefile.Remove(f.closedPath(id)), "remove the note of a closed computer")
}

// writeClosed durably writes the note of a computer whose log is closed.
func (f *folder) writeClosed(id choir.ID, head uint64) error {
	last, err := lastSegment(f.finished(id))
	if err == nil {
		var raw []byte
		if raw, err = json.Marshal(closedNote{Head: head, Segment: last.Name(), Size: last.Size()}); err == nil {
			err = durablefile.Write(f.closedPath(id), raw)
		}
	}
	return choir.Wrap("computer.close", choir.CodeUnavailable, err, "write the note of a closed computer")
}

// lastSegment describes the last file of a journal, in the folder of its computer.
func lastSegment(dir string) (os.FileInfo, error) {
	found, err := filepath.Glob(filepath.Join(dir, "journal", "*.seg"))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, os.ErrNotExist
	}
	return os.Stat(slices.Max(found))
}

// closeComputer closes a computer whose services have ended, and notes if nothing remains
// to be done in it.
func (s *System) closeComputer(ctx context.Context, c *computer.Computer) error {
	head, _ := c.Store().Head()
	s.computers.setHead(c.ID(), head)
	done := s.folder.nothingRemains(ctx, c, head)
	if err := c.Close(); err != nil || !done {
		return err
	}
	return s.folder.writeClosed(c.ID(), head)
}

// endings are the types of the events with which a session ends. They may stay unpublished
// until the computer is opened again, because no page is there to hear them.
var endings = []choir.Type{choir.TypeTerminalClosed, choir.TypeSandboxStopped, choir.TypeSessionEnded}

// nothingRemains reports whether a computer whose services have ended can stay closed: its
// session ended in order, no run or task is open, no change of the workspace is half made,
// no sandbox was left, and the bus has all events. An error counts as no.
func (f *folder) nothingRemains(ctx context.Context, c *computer.Computer, head uint64) bool {
	log := c.Store()
	if log.ReadOnly() != "" || head == 0 || notReplicated(c) != nil {
		return false
	}
	last, err := log.At(ctx, head)
	if err != nil || last.Type != choir.TypeSessionEnded || workRemains(ctx, c) != "" {
		return false
	}
	dir := f.finished(c.ID())
	notes, err := filepath.Glob(filepath.Join(dir, "handles", "*.json"))
	if _, intent := os.Stat(filepath.Join(dir, workspace.IntentFile)); err != nil || len(notes) > 0 || !errors.Is(intent, os.ErrNotExist) {
		return false
	}
	published, err := log.Cursor("relay").Load(ctx)
	if err != nil {
		return false
	}
	for e, err := range log.Events(ctx, published+1, 0) {
		if err != nil || !slices.Contains(endings, e.Type) {
			return false
		}
	}
	return true
}

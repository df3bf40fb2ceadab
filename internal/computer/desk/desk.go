// Package desk is the desktop of one computer as a person sees and changes it:
// windows, theme and settings, documents with the overlays above them, and drafts,
// which are typed and not saved.
//
// A Desk works on the computer's log. It knows no workspace, no sandbox and no bus,
// so it needs none of them to be tested, and works while they sleep. Content of a
// document that is too large for an event is a blob; drafts lie in a file of their
// own, because the log forgets nothing.
package desk

import (
	"context"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/desk/drafts"
	"choiros/internal/eventstore"
)

// WindowLog is what a Desk reads of its computer's log for windows, theme and
// settings. The methods are those of eventstore.Store.
type WindowLog interface {
	Head() (uint64, choir.Digest)
	MustHave(seq uint64) error
	Windows(ctx context.Context, asOf uint64) ([]eventstore.Window, error)
	Settings(ctx context.Context, asOf uint64) ([]eventstore.Setting, error)
	Run(ctx context.Context, id choir.ID) (eventstore.Run, error)
	ThemeOutdated(ctx context.Context, path string) (bool, error)
}

// DocumentLog is what a Desk reads of its computer's log for documents, and how it
// appends drafts to it. The methods are those of eventstore.Store.
type DocumentLog interface {
	MustHave(seq uint64) error
	Documents(ctx context.Context, asOf uint64) ([]eventstore.Document, error)
	Document(ctx context.Context, id choir.ID, version int) (eventstore.Document, error)
	VersionsBefore(ctx context.Context, id choir.ID, before, limit int) ([]eventstore.Document, error)
	Overlays(ctx context.Context, document choir.ID, asOf uint64) ([]eventstore.Overlay, error)
	Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error)
}

// Log is the log of the computer that a Desk belongs to; eventstore.Store is one.
type Log interface {
	WindowLog
	DocumentLog
}

// Config of a Desk. Only ReadOnly may be absent.
type Config struct {
	// Themes is the folder with the files of the themes, a path below the
	// workspace's root. Only the log's events about these files are read.
	Themes string
	// Drafts is the file that keeps the drafts; it is made when it is first used.
	Drafts string
	// ReadOnly refuses drafts with code unavailable: the computer does not run.
	ReadOnly bool
	// Now stamps drafts.
	Now func() time.Time
	// DraftChanged hears of each draft that was kept, and of each that was dropped,
	// with revision 0; text and other fields may be absent. It must not block.
	DraftChanged func(drafts.Draft)
}

// Desk is the desktop of one computer, made of three parts that share no lock:
// windows with theme and settings, documents, and drafts. Its methods may be called
// at once. The role that a method is given is that of the page or the sandbox that
// asks; the events have its source.
type Desk struct {
	windows
	documents
	unsaved
}

// New makes the desk of a computer. It reads log, appends with events, which must
// append to the same log, and keeps large content in blobs, which the log must be
// able to read.
func New(log Log, events *appender.Appender, blobs blob.Store, cfg Config) *Desk {
	return &Desk{
		windows:   windows{log: log, events: events, themes: cfg.Themes},
		documents: documents{log: log, events: events, blobs: blobs},
		unsaved:   unsaved{store: drafts.New(cfg.Drafts, cfg.Now), readOnly: cfg.ReadOnly, changed: cfg.DraftChanged},
	}
}

// Close closes the file of the drafts. The log stays open.
func (d *Desk) Close() error { return d.unsaved.store.Close() }

// Package desk holds the desktop of one computer as a person sees and changes it: windows,
// theme and settings, documents with their overlays, and drafts, which are typed text that
// is not saved.
//
// A Desk works on the computer's log. It does not import workspace, sandbox or bus, so it
// is tested without them and works while they do not run. Document content that is too
// large for an event is a blob; drafts are in a file of their own, because the log keeps
// everything for ever.
package desk

import (
	"context"
	"iter"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/desk/drafts"
	"choiros/internal/eventstore"
)

// WindowLog reads windows, theme and settings from the log. The methods are those of
// eventstore.Store.
type WindowLog interface {
	Head() (uint64, choir.Digest)
	MustHave(seq uint64) error
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
	Windows(ctx context.Context, asOf uint64) ([]eventstore.Window, error)
	Settings(ctx context.Context, asOf uint64) ([]eventstore.Setting, error)
	Run(ctx context.Context, id choir.ID) (eventstore.Run, error)
	First(ctx context.Context, t choir.Type, subject ...string) (choir.Event, error)
	ThemeOutdated(ctx context.Context, path string) (bool, error)
}

// DocumentLog reads documents from the log and appends drafts to it. The methods are those
// of eventstore.Store.
type DocumentLog interface {
	MustHave(seq uint64) error
	Documents(ctx context.Context, asOf uint64) ([]eventstore.Document, error)
	Document(ctx context.Context, id choir.ID, version int) (eventstore.Document, error)
	VersionsBefore(ctx context.Context, id choir.ID, before, limit int) ([]eventstore.Document, error)
	Overlays(ctx context.Context, document choir.ID, asOf uint64) ([]eventstore.Overlay, error)
	Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error)
}

// Log is the log of the computer; eventstore.Store implements it.
type Log interface {
	WindowLog
	DocumentLog
}

// Config configures a Desk. Only ReadOnly is optional.
type Config struct {
	// Themes is the folder of the theme files, relative to the workspace. The Desk reads only
	// the log's events about these files.
	Themes string
	// Drafts is the path of the file that stores the drafts; created at the first use.
	Drafts string
	// ReadOnly makes the methods for drafts fail with code unavailable.
	ReadOnly bool
	// Now returns the time for drafts.
	Now func() time.Time
	// DraftChanged is called for each draft that was stored or removed; a removed one has
	// revision 0. Its text may be missing. It must not block.
	DraftChanged func(drafts.Draft)
}

// Desk is the desktop of one computer, made of three parts that share no lock: windows with
// theme and settings, documents, and drafts. Its methods are safe for concurrent use. Their
// parameter role is that of the asking page or sandbox, which becomes the events' source.
type Desk struct {
	windows
	documents
	unsaved
}

// New returns the desk of a computer. It reads log, appends with events, which must append
// to the same log, and stores large content in blobs, which the log must be able to read.
func New(log Log, events *appender.Appender, blobs blob.Store, cfg Config) *Desk {
	return &Desk{
		windows:   windows{log: log, events: events, themes: cfg.Themes, memory: memory{log: log}},
		documents: documents{log: log, events: events, blobs: blobs},
		unsaved:   unsaved{store: drafts.New(cfg.Drafts, cfg.Now), readOnly: cfg.ReadOnly, changed: cfg.DraftChanged},
	}
}

// Close closes the file of the drafts, not the log.
func (d *Desk) Close() error { return d.unsaved.store.Close() }

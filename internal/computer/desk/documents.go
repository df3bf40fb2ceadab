package desk

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// Size limits of a document version, in bytes: when a person saves it, and when it is read.
const (
	maxDocument     = 8 << 20
	maxDocumentRead = 16 << 20
)

// documents is the part of a Desk for documents and overlays.
type documents struct {
	log    DocumentLog
	events *appender.Appender
	blobs  blob.Store

	mu sync.Mutex // held from reading a document to appending its change
}

// Append appends drafts of a sandbox's role, like eventstore.Store.Append. It makes a
// version of a document wait while a person saves one, so that a person's version follows
// the one it is based on.
func (ds *documents) Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	if slices.ContainsFunc(drafts, func(d choir.Draft) bool { return d.Type == choir.TypeDocumentVersioned }) {
		ds.mu.Lock()
		defer ds.mu.Unlock()
	}
	return ds.log.Append(ctx, role, drafts...)
}

// Documents returns the documents as of event asOf (0: now), without content.
func (ds *documents) Documents(ctx context.Context, asOf uint64) ([]eventstore.Document, error) {
	return ds.log.Documents(ctx, asOf)
}

// Versions returns up to limit versions of a document, newest first, without content. If
// before is not 0, only versions with lower numbers.
func (ds *documents) Versions(ctx context.Context, id choir.ID, before, limit int) ([]eventstore.Document, error) {
	return ds.log.VersionsBefore(ctx, id, before, limit)
}

// Overlays returns the overlays of a document as of event asOf (0: now).
func (ds *documents) Overlays(ctx context.Context, document choir.ID, asOf uint64) ([]eventstore.Overlay, error) {
	return ds.log.Overlays(ctx, document, asOf)
}

// Document returns one version of a document with its content, the newest for -1. Code
// not_found: there is none.
func (ds *documents) Document(ctx context.Context, id choir.ID, version int) (eventstore.Document, error) {
	d, err := ds.log.Document(ctx, id, version)
	if err != nil || d.Blob == "" {
		return d, err
	}
	content, err := blob.ReadAll(ctx, ds.blobs, d.Blob, maxDocumentRead)
	d.Content = string(content)
	return d, err
}

// DocumentAt returns a document with content, title and version as of event seq. Code
// not_found: it did not exist then.
func (ds *documents) DocumentAt(ctx context.Context, seq uint64, id choir.ID) (eventstore.Document, error) {
	if err := ds.log.MustHave(seq); err != nil {
		return eventstore.Document{}, err
	}
	all, err := ds.log.Documents(ctx, seq)
	if err != nil {
		return eventstore.Document{}, err
	}
	i := slices.IndexFunc(all, func(d eventstore.Document) bool { return d.ID == id })
	if i < 0 {
		return eventstore.Document{}, choir.Refuse("computer.document", choir.ReasonNoDocumentThen, choir.TextOf("id", id), choir.CountOf("event", seq))
	}
	d, err := ds.Document(ctx, id, all[i].Version)
	d.Title = all[i].Title
	return d, err
}

// NewDocument describes a document to create.
type NewDocument struct {
	ID             choir.ID // empty for a fresh id
	Title, Content string
}

// CreateDocument creates a document and returns it. If its id exists, it returns the
// existing one if title and content are equal; else code conflict.
func (ds *documents) CreateDocument(ctx context.Context, role choir.Role, n NewDocument) (eventstore.Document, error) {
	if err := checkContent(n.Content); err != nil {
		return eventstore.Document{}, err
	}
	var err error
	if n.ID == "" {
		if n.ID, err = ds.events.NewID(); err != nil {
			return eventstore.Document{}, err
		}
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	first, err := ds.Document(ctx, n.ID, 0)
	if err == nil {
		if first.Title != n.Title || first.Content != n.Content {
			err = choir.Refuse("computer.document", choir.ReasonDocumentExists, choir.TextOf("id", n.ID))
		}
		return first, err
	}
	if choir.CodeOf(err) != choir.CodeNotFound {
		return eventstore.Document{}, err
	}
	d, err := ds.withContent(ctx, n.Content, func(content string, blob choir.Digest) choir.Payload {
		return choir.DocumentCreated{Document: n.ID, Title: n.Title, Content: content, Blob: blob}
	})
	if err == nil {
		_, err = ds.log.Append(ctx, role, d)
	}
	if err != nil {
		return eventstore.Document{}, err
	}
	return ds.Document(ctx, n.ID, 0)
}

// checkContent returns an error if the content is too large to save or no UTF-8 text.
func checkContent(content string) error {
	if len(content) > maxDocument {
		return choir.RefuseField("content", choir.ReasonDocumentLarge)
	}
	if !utf8.ValidString(content) {
		return choir.RefuseField("content", choir.ReasonFieldNoUTF8)
	}
	return nil
}

// withContent returns a draft of the payload that payload returns: called with the content,
// or with the digest of a blob if the content is too large for an event.
func (ds *documents) withContent(ctx context.Context, content string, payload func(content string, blob choir.Digest) choir.Payload) (choir.Draft, error) {
	if len(content) <= choir.InlineLimit {
		d, err := ds.events.Draft(payload(content, ""))
		if err != nil || len(d.Payload) <= choir.InlineLimit {
			return d, err
		}
	}
	digest, _, err := ds.blobs.Put(ctx, bytes.NewReader([]byte(content)))
	if err != nil {
		return choir.Draft{}, err
	}
	return ds.events.Draft(payload("", digest))
}

// Save describes a document version to save.
type Save struct {
	Base    int // the version that it is based on
	Content string
	Note    string
	// Accepted are the proposals that were merged into it.
	Accepted []choir.ID
}

// SaveDocument adds a version to a document and returns the newest. Code conflict, with the
// newest version, if that is neither s.Base nor of equal content. Equal content adds no
// version.
func (ds *documents) SaveDocument(ctx context.Context, role choir.Role, id choir.ID, s Save) (eventstore.Document, error) {
	if err := checkContent(s.Content); err != nil {
		return eventstore.Document{}, err
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	now, err := ds.Document(ctx, id, -1)
	if err != nil {
		return eventstore.Document{}, err
	}
	same := now.Content == s.Content
	if now.Version != s.Base && !same {
		return now, choir.Refuse("computer.document", choir.ReasonDocumentChanged, choir.CountOf("next", s.Base+1), choir.CountOf("base", s.Base), choir.CountOf("now", now.Version))
	}
	drafts, err := ds.acceptances(ctx, id, s.Accepted)
	if err != nil {
		return eventstore.Document{}, err
	}
	if !same {
		d, err := ds.withContent(ctx, s.Content, func(content string, blob choir.Digest) choir.Payload {
			return choir.DocumentVersioned{Document: id, Version: now.Version + 1, Content: content, Blob: blob, Note: s.Note}
		})
		if err != nil {
			return eventstore.Document{}, err
		}
		drafts = append(drafts, d)
	}
	if len(drafts) == 0 {
		return now, nil
	}
	if _, err := ds.log.Append(ctx, role, drafts...); err != nil {
		return eventstore.Document{}, err
	}
	return ds.Document(ctx, id, -1)
}

// acceptances returns drafts that record the overlays as accepted proposals of the document.
func (ds *documents) acceptances(ctx context.Context, document choir.ID, overlays []choir.ID) ([]choir.Draft, error) {
	var payloads []choir.Payload
	for _, id := range overlays {
		p := choir.OverlaySettled{Overlay: id, Document: document, Outcome: choir.OverlayAccepted}
		if _, err := ds.settleable(ctx, p); err != nil {
			return nil, err
		}
		payloads = append(payloads, p)
	}
	return ds.events.Drafts(payloads)
}

// RenameDocument sets a document's title and returns the document. Code invalid: the title
// is blank.
func (ds *documents) RenameDocument(ctx context.Context, role choir.Role, id choir.ID, title string) (eventstore.Document, error) {
	if strings.TrimSpace(title) == "" {
		return eventstore.Document{}, choir.Refuse("computer.document", choir.ReasonTitleBlank).At("title")
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	now, err := ds.log.Document(ctx, id, -1)
	if err != nil || now.Title == title {
		return now, err
	}
	if _, err := ds.events.Append(ctx, role, choir.DocumentRenamed{Document: id, Title: title}); err != nil {
		return now, err
	}
	return ds.Document(ctx, id, -1)
}

// RemoveDocument appends that a document is removed; a rewind restores it.
func (ds *documents) RemoveDocument(ctx context.Context, role choir.Role, id choir.ID) error {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if _, err := ds.log.Document(ctx, id, -1); err != nil {
		return err
	}
	_, err := ds.events.Append(ctx, role, choir.DocumentRemoved{Document: id})
	return err
}

// AddOverlay adds a proposal or a comment to a version of a document and returns it. If its
// id exists, it returns the existing one.
func (ds *documents) AddOverlay(ctx context.Context, role choir.Role, o choir.OverlayAdded) (eventstore.Overlay, error) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	var err error
	if o.Overlay == "" {
		if o.Overlay, err = ds.events.NewID(); err != nil {
			return eventstore.Overlay{}, err
		}
	} else if there, err := ds.overlay(ctx, o.Document, o.Overlay); choir.CodeOf(err) != choir.CodeNotFound {
		return there, err
	}
	if _, err := ds.log.Document(ctx, o.Document, o.Version); err != nil {
		return eventstore.Overlay{}, err
	}
	if o.ReplyTo != "" {
		if _, err := ds.overlay(ctx, o.Document, o.ReplyTo); err != nil {
			return eventstore.Overlay{}, choir.Under("reply_to", err)
		}
	}
	if _, err := ds.events.Append(ctx, role, o); err != nil {
		return eventstore.Overlay{}, err
	}
	return ds.overlay(ctx, o.Document, o.Overlay)
}

// overlay returns one overlay of a document. Code not_found: there is none.
func (ds *documents) overlay(ctx context.Context, document, id choir.ID) (eventstore.Overlay, error) {
	all, err := ds.log.Overlays(ctx, document, 0)
	if err != nil {
		return eventstore.Overlay{}, err
	}
	for _, o := range all {
		if o.ID == id {
			return o, nil
		}
	}
	return eventstore.Overlay{}, choir.Refuse("computer.overlay", choir.ReasonNoOverlay, choir.TextOf("id", id))
}

// SettleOverlay records the outcome of a proposal or a comment and returns the overlay.
func (ds *documents) SettleOverlay(ctx context.Context, role choir.Role, s choir.OverlaySettled) (eventstore.Overlay, error) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	o, err := ds.settleable(ctx, s)
	if err != nil || o.Outcome == s.Outcome {
		return o, err
	}
	if _, err := ds.events.Append(ctx, role, s); err != nil {
		return o, err
	}
	return ds.overlay(ctx, s.Document, s.Overlay)
}

// settleable returns the overlay of s. Code not_found: there is none; invalid: its kind
// cannot have this outcome.
func (ds *documents) settleable(ctx context.Context, s choir.OverlaySettled) (eventstore.Overlay, error) {
	o, err := ds.overlay(ctx, s.Document, s.Overlay)
	if err != nil {
		return o, err
	}
	if s.Outcome != choir.OverlayReopened && (o.Kind == choir.OverlayComment) != (s.Outcome == choir.OverlayResolved) {
		return o, choir.RefuseField("outcome", choir.ReasonOverlayOutcome, choir.TextOf("kind", o.Kind), choir.TextOf("outcome", s.Outcome))
	}
	return o, nil
}

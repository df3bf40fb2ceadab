package computer

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// maxDocument bounds the content of a version, in bytes.
const maxDocument = 8 << 20

// NewDocument is a document that a person begins.
type NewDocument struct {
	ID             choir.ID // empty for a new one
	Title, Content string
}

// CreateDocument begins a document. With an id that is known, and the same
// content, it answers what is there; otherwise code conflict.
func (c *Computer) CreateDocument(ctx context.Context, role choir.Role, n NewDocument) (eventstore.Document, error) {
	if err := checkContent(n.Content); err != nil {
		return eventstore.Document{}, err
	}
	var err error
	if n.ID == "" {
		if n.ID, err = c.newID(); err != nil {
			return eventstore.Document{}, err
		}
	}
	c.documents.Lock()
	defer c.documents.Unlock()
	first, err := c.Document(ctx, n.ID, 0)
	if err == nil {
		if first.Title != n.Title || first.Content != n.Content {
			err = choir.E("computer.document", choir.CodeConflict, "there is a document %s already", n.ID)
		}
		return first, err
	}
	if choir.CodeOf(err) != choir.CodeNotFound {
		return eventstore.Document{}, err
	}
	d, err := c.withContent(ctx, n.Content, func(content string, blob choir.Digest) choir.Payload {
		return choir.DocumentCreated{Document: n.ID, Title: n.Title, Content: content, Blob: blob}
	})
	if err == nil {
		_, err = c.store.Append(ctx, role, d)
	}
	if err != nil {
		return eventstore.Document{}, err
	}
	return c.Document(ctx, n.ID, 0)
}

func checkContent(content string) error {
	if len(content) > maxDocument {
		return &choir.Error{Op: "computer.document", Code: choir.CodeTooLarge, Path: "content", Msg: "has more than 8 MiB", Remedy: "keep it as a file of the workspace"}
	}
	if !utf8.ValidString(content) {
		return choir.Invalid("content", "is not text in UTF-8")
	}
	return nil
}

// withContent makes a draft of a payload with its content in it, or as a blob
// when that is too large.
func (c *Computer) withContent(ctx context.Context, content string, payload func(content string, blob choir.Digest) choir.Payload) (choir.Draft, error) {
	if len(content) <= choir.InlineLimit {
		d, err := c.draft(payload(content, ""))
		if err != nil || len(d.Payload) <= choir.InlineLimit {
			return d, err
		}
	}
	digest, _, err := c.blobs.Put(ctx, bytes.NewReader([]byte(content)))
	if err != nil {
		return choir.Draft{}, err
	}
	return c.draft(payload("", digest))
}

// Save is a version of a document that a person made of another.
type Save struct {
	Base    int // version it was made of
	Content string
	Note    string
	// Accepted are proposals that became part of it.
	Accepted []choir.ID
}

// SaveDocument adds a version. When the newest is not the base, the code is
// conflict and the answer is the newest; with the same content it is no conflict
// and nothing is added.
func (c *Computer) SaveDocument(ctx context.Context, role choir.Role, id choir.ID, s Save) (eventstore.Document, error) {
	if err := checkContent(s.Content); err != nil {
		return eventstore.Document{}, err
	}
	// A version of the Director's may not come in between.
	c.documents.Lock()
	defer c.documents.Unlock()
	now, err := c.Document(ctx, id, -1)
	if err != nil {
		return eventstore.Document{}, err
	}
	same := now.Content == s.Content
	if now.Version != s.Base && !same {
		return now, choir.E("computer.document", choir.CodeConflict, "version %d was made of version %d, and version %d is the newest", s.Base+1, s.Base, now.Version).
			WithRemedy("compare the two, and save again on top of the newest")
	}
	drafts, err := c.acceptances(ctx, id, s.Accepted)
	if err != nil {
		return eventstore.Document{}, err
	}
	if !same {
		d, err := c.withContent(ctx, s.Content, func(content string, blob choir.Digest) choir.Payload {
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
	if _, err := c.store.Append(ctx, role, drafts...); err != nil {
		return eventstore.Document{}, err
	}
	return c.Document(ctx, id, -1)
}

func (c *Computer) acceptances(ctx context.Context, document choir.ID, overlays []choir.ID) ([]choir.Draft, error) {
	var payloads []choir.Payload
	for _, id := range overlays {
		p := choir.OverlaySettled{Overlay: id, Document: document, Outcome: choir.OverlayAccepted}
		if _, err := c.settleable(ctx, p); err != nil {
			return nil, err
		}
		payloads = append(payloads, p)
	}
	return c.drafts(payloads)
}

// versions says whether one of the drafts is of a version, which waits for a
// person who is saving one.
func versions(drafts []choir.Draft) bool {
	for i := range drafts {
		if drafts[i].Type == "document.versioned" {
			return true
		}
	}
	return false
}

// RenameDocument gives a document another title.
func (c *Computer) RenameDocument(ctx context.Context, role choir.Role, id choir.ID, title string) (eventstore.Document, error) {
	if strings.TrimSpace(title) == "" {
		return eventstore.Document{}, choir.Invalid("title", "must not be blank")
	}
	c.documents.Lock()
	defer c.documents.Unlock()
	now, err := c.store.Document(ctx, id, -1)
	if err != nil || now.Title == title {
		return now, err
	}
	if _, err := c.append(ctx, role, choir.DocumentRenamed{Document: id, Title: title}); err != nil {
		return now, err
	}
	return c.Document(ctx, id, -1)
}

// RemoveDocument takes a document away; a rewind brings it back.
func (c *Computer) RemoveDocument(ctx context.Context, role choir.Role, id choir.ID) error {
	c.documents.Lock()
	defer c.documents.Unlock()
	if _, err := c.store.Document(ctx, id, -1); err != nil {
		return err
	}
	_, err := c.append(ctx, role, choir.DocumentRemoved{Document: id})
	return err
}

// AddOverlay puts a proposal or a comment over a version of a document. With an
// id that is known it answers what is there.
func (c *Computer) AddOverlay(ctx context.Context, role choir.Role, o choir.OverlayAdded) (eventstore.Overlay, error) {
	c.documents.Lock()
	defer c.documents.Unlock()
	var err error
	if o.Overlay == "" {
		if o.Overlay, err = c.newID(); err != nil {
			return eventstore.Overlay{}, err
		}
	} else if there, err := c.overlay(ctx, o.Document, o.Overlay); choir.CodeOf(err) != choir.CodeNotFound {
		return there, err
	}
	if _, err := c.store.Document(ctx, o.Document, o.Version); err != nil {
		return eventstore.Overlay{}, err
	}
	if o.ReplyTo != "" {
		if _, err := c.overlay(ctx, o.Document, o.ReplyTo); err != nil {
			return eventstore.Overlay{}, choir.Under("reply_to", err)
		}
	}
	if _, err := c.append(ctx, role, o); err != nil {
		return eventstore.Overlay{}, err
	}
	return c.overlay(ctx, o.Document, o.Overlay)
}

func (c *Computer) overlay(ctx context.Context, document, id choir.ID) (eventstore.Overlay, error) {
	all, err := c.store.Overlays(ctx, document, 0)
	if err != nil {
		return eventstore.Overlay{}, err
	}
	for _, o := range all {
		if o.ID == id {
			return o, nil
		}
	}
	return eventstore.Overlay{}, choir.E("computer.overlay", choir.CodeNotFound, "there is no overlay %s over this document", id)
}

// SettleOverlay says what becomes of a proposal or a comment.
func (c *Computer) SettleOverlay(ctx context.Context, role choir.Role, s choir.OverlaySettled) (eventstore.Overlay, error) {
	c.documents.Lock()
	defer c.documents.Unlock()
	o, err := c.settleable(ctx, s)
	if err != nil || o.Outcome == s.Outcome {
		return o, err
	}
	if _, err := c.append(ctx, role, s); err != nil {
		return o, err
	}
	return c.overlay(ctx, s.Document, s.Overlay)
}

// settleable finds an overlay that can have this outcome.
func (c *Computer) settleable(ctx context.Context, s choir.OverlaySettled) (eventstore.Overlay, error) {
	o, err := c.overlay(ctx, s.Document, s.Overlay)
	if err != nil {
		return o, err
	}
	if s.Outcome != choir.OverlayReopened && (o.Kind == choir.OverlayComment) != (s.Outcome == choir.OverlayResolved) {
		return o, choir.Invalid("outcome", "a %s cannot be %s", o.Kind, s.Outcome)
	}
	return o, nil
}

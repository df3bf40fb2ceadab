package eventstore

import (
	"encoding/json"
	"fmt"

	"choiros/internal/choir"
)

// Overlay is a proposal or a comment over a version of a document.
type Overlay struct {
	ID       choir.ID             `json:"id"`
	Document choir.ID             `json:"document"`
	Version  int                  `json:"version" doc:"Version it was made on."`
	Kind     choir.OverlayKind    `json:"kind"`
	Anchor   choir.TextAnchor     `json:"anchor"`
	Text     string               `json:"text"`
	ReplyTo  choir.ID             `json:"reply_to,omitempty"`
	By       choir.Source         `json:"by"`
	Seq      uint64               `json:"seq"`
	At       choir.Time           `json:"at"`
	Outcome  choir.OverlayOutcome `json:"outcome,omitempty" doc:"What became of it; none while it is open."`
}

// documentHead is what stays true of a document whatever is rewound.
type documentHead struct {
	Run     choir.ID `json:"run"`
	Title   string   `json:"title"`
	Highest int      `json:"highest"` // newest version number given
}

func documentCreated(v *view, e *choir.Event, p *choir.DocumentCreated) error {
	if _, known, err := v.documentHeads.get(p.Document); err != nil || known {
		return err
	}
	v.documentHeads.put(p.Document, documentHead{Run: e.Run, Title: p.Title})
	err := v.changeRun(e.Run, func(r *Run) {
		if r.Document == "" {
			r.Document = p.Document
		}
	})
	if err != nil {
		return err
	}
	return v.addVersion(Document{ID: p.Document, Run: e.Run, Title: p.Title, Content: p.Content, Blob: p.Blob, Seq: e.Seq, At: e.Time})
}

// documentVersioned gives the version the number it asks for, or a higher one
// when another took that meanwhile: versions are immutable.
func documentVersioned(v *view, e *choir.Event, p *choir.DocumentVersioned) error {
	head, known, err := v.documentHeads.get(p.Document)
	if err != nil || !known {
		return err
	}
	head.Highest = max(head.Highest+1, p.Version)
	v.documentHeads.put(p.Document, head)
	return v.addVersion(Document{
		ID: p.Document, Run: head.Run, Title: head.Title, Version: head.Highest, Content: p.Content, Blob: p.Blob,
		Note: p.Note, Seq: e.Seq, At: e.Time,
	})
}

// documentRenamed leaves the versions as they are: a title is no part of them.
func documentRenamed(v *view, e *choir.Event, p *choir.DocumentRenamed) error {
	head, known, err := v.documentHeads.get(p.Document)
	if err != nil || !known {
		return err
	}
	head.Title = p.Title
	v.documentHeads.put(p.Document, head)
	c, err := v.documents.get(string(p.Document))
	if err != nil || !c.exists {
		return err
	}
	var doc Document
	if err := json.Unmarshal([]byte(c.value), &doc); err != nil {
		return damagedRow(documentsTable, string(p.Document), err)
	}
	doc.Title, doc.Seq, doc.At = p.Title, e.Seq, e.Time
	return v.setDocument(doc)
}

func documentRemoved(v *view, e *choir.Event, p *choir.DocumentRemoved) error {
	return v.documents.end(string(p.Document), e.Seq)
}

// addVersion keeps a version and makes it the current one.
func (v *view) addVersion(doc Document) error {
	value, err := encode(doc)
	if err != nil {
		return err
	}
	v.add(documentVersionsTable, row{key: string(doc.ID), seq: uint64(doc.Version), value: value})
	return v.setDocument(doc)
}

// setDocument makes a document, without its content, the current one.
func (v *view) setDocument(doc Document) error {
	doc.Content, doc.Blob = "", ""
	value, err := encode(doc)
	if err != nil {
		return err
	}
	return v.documents.set(string(doc.ID), doc.Seq, value)
}

func overlayKey(document, overlay choir.ID) string { return string(document) + "/" + string(overlay) }

func overlayAdded(v *view, e *choir.Event, p *choir.OverlayAdded) error {
	value, err := encode(Overlay{
		ID: p.Overlay, Document: p.Document, Version: p.Version, Kind: p.Kind, Anchor: p.Anchor, Text: p.Text,
		ReplyTo: p.ReplyTo, By: e.Source, Seq: e.Seq, At: e.Time,
	})
	if err != nil {
		return err
	}
	return v.overlays.set(overlayKey(p.Document, p.Overlay), e.Seq, value)
}

// overlaySettled leaves an overlay that is not there alone.
func overlaySettled(v *view, e *choir.Event, p *choir.OverlaySettled) error {
	key := overlayKey(p.Document, p.Overlay)
	c, err := v.overlays.get(key)
	if err != nil || !c.exists {
		return err
	}
	var o Overlay
	if err := json.Unmarshal([]byte(c.value), &o); err != nil {
		return damagedRow(overlaysTable, key, err)
	}
	if o.Outcome = p.Outcome; p.Outcome == choir.OverlayReopened {
		o.Outcome = ""
	}
	value, err := encode(o)
	if err != nil {
		return err
	}
	return v.overlays.set(key, e.Seq, value)
}

// rewindDocuments gives each document that differs a new version with the
// content of then, so that version numbers never mean two contents.
func (v *view) rewindDocuments(e *choir.Event, to uint64) error {
	changes, err := v.base.changed(documentsTable, to)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.then == nil {
			if err := v.documents.end(c.key, e.Seq); err != nil {
				return err
			}
			continue
		}
		var then Document
		if err := json.Unmarshal([]byte(*c.then), &then); err != nil {
			return damagedRow(documentsTable, c.key, err)
		}
		if err := v.restoreDocument(e, then, to); err != nil {
			return err
		}
	}
	return nil
}

func (v *view) restoreDocument(e *choir.Event, then Document, to uint64) error {
	doc, err := v.base.document(string(then.ID), then.Version)
	if err != nil {
		return err
	}
	head, _, err := v.documentHeads.get(then.ID)
	if err != nil {
		return err
	}
	head.Highest++
	head.Title = then.Title
	v.documentHeads.put(then.ID, head)
	doc.Title = then.Title
	doc.Note = fmt.Sprintf("version %d, as after event %d", then.Version, to)
	doc.Version, doc.Seq, doc.At = head.Highest, e.Seq, e.Time
	return v.addVersion(doc)
}

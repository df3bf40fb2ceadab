package eventstore

import (
	"encoding/json"
	"fmt"

	"choiros/internal/choir"
)

func fileWritten(v *view, e *choir.Event, p *choir.FileWritten) error {
	for i := range p.Files {
		value, err := encode(&p.Files[i])
		if err != nil {
			return err
		}
		if err := v.files.set(p.Files[i].Path, e.Seq, value); err != nil {
			return err
		}
	}
	return nil
}

func fileRemoved(v *view, e *choir.Event, p *choir.FileRemoved) error {
	for _, path := range p.Paths {
		if err := v.files.end(path, e.Seq); err != nil {
			return err
		}
	}
	return nil
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
	return v.addVersion(Document{ID: p.Document, Run: e.Run, Title: p.Title, Content: p.Content, Seq: e.Seq, At: e.Time})
}

// documentVersioned gives the version the number it asks for, or a higher one
// when a rewind took that meanwhile: versions are immutable.
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

// addVersion keeps a version and makes it the current one.
func (v *view) addVersion(doc Document) error {
	value, err := encode(doc)
	if err != nil {
		return err
	}
	v.add(documentVersionsTable, row{key: string(doc.ID), seq: uint64(doc.Version), value: value})
	doc.Content, doc.Blob = "", ""
	if value, err = encode(doc); err != nil {
		return err
	}
	return v.documents.set(string(doc.ID), doc.Seq, value)
}

// timelineRewound puts back what can be rewound, as new versions.
func timelineRewound(v *view, e *choir.Event, p *choir.TimelineRewound) error {
	if err := v.snapshot(e, choir.SnapshotTaken{Snapshot: p.Snapshot, Reason: "rewind"}); err != nil {
		return err
	}
	if err := v.flush(); err != nil {
		return err
	}
	for _, s := range []*versions{&v.files, &v.settings, &v.windows} {
		if err := s.rewind(e.Seq, p.ToSeq); err != nil {
			return err
		}
	}
	return v.rewindDocuments(e, p.ToSeq)
}

// rewind makes the values that held after event to hold again.
func (s *versions) rewind(seq, to uint64) error {
	changes, err := s.view.base.changed(s.table, to)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.then == nil {
			err = s.end(c.key, seq)
		} else {
			err = s.set(c.key, seq, *c.then)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	v.documentHeads.put(then.ID, head)
	doc.Note = fmt.Sprintf("version %d, as after event %d", then.Version, to)
	doc.Version, doc.Seq, doc.At = head.Highest, e.Seq, e.Time
	return v.addVersion(doc)
}

package eventstore

import (
	"encoding/json"
	"fmt"

	"choiros/internal/choir"
)

// documentsTable stores the current state of each document without its content; the
// value is a Document. Its reducers also write the two tables below, because a version
// and its number are decided together.
var documentsTable = newVersioned("documents", 1, reducers{
	choir.TypeDocumentCreated:   on(documentCreated),
	choir.TypeDocumentVersioned: on(documentVersioned),
	choir.TypeDocumentRenamed:   on(documentRenamed),
	choir.TypeDocumentRemoved:   on(documentRemoved),
	choir.TypeTimelineRewound:   on(rewindDocuments),
})

// documentHeadsTable stores the documentHead of each document.
var documentHeadsTable = &keyed[documentHead]{projection: projection{
	name: "document_heads", since: 1, key: 1, columns: []column{keyColumn, valueColumn},
}}

// documentVersionsTable stores every version of a document with its content; the value
// is a Document.
var documentVersionsTable = &listed{projection{
	name: "document_versions", since: 1, key: 2, columns: []column{keyColumn, versionColumn, valueColumn},
}}

// documentHead is the part of a document that a rewind does not change.
type documentHead struct {
	Run     choir.ID `json:"run"`
	Title   string   `json:"title"`
	Highest int      `json:"highest"` // newest version number given
}

func documentCreated(documents *versions, e *choir.Event, p *choir.DocumentCreated) error {
	heads := documentHeadsTable.of(documents.view)
	if _, known, err := heads.get(p.Document); err != nil || known {
		return err
	}
	heads.put(p.Document, documentHead{Run: e.Run, Title: p.Title})
	return addVersion(documents, Document{ID: p.Document, Run: e.Run, Title: p.Title, Content: p.Content, Blob: p.Blob, Seq: e.Seq, At: e.Time})
}

// documentVersioned adds a version with the number in the event, or a higher one if
// that is taken: versions are immutable.
func documentVersioned(documents *versions, e *choir.Event, p *choir.DocumentVersioned) error {
	heads := documentHeadsTable.of(documents.view)
	head, known, err := heads.get(p.Document)
	if err != nil || !known {
		return err
	}
	head.Highest = max(head.Highest+1, p.Version)
	heads.put(p.Document, head)
	return addVersion(documents, Document{
		ID: p.Document, Run: head.Run, Title: head.Title, Version: head.Highest, Content: p.Content, Blob: p.Blob,
		Note: p.Note, Seq: e.Seq, At: e.Time,
	})
}

// documentRenamed sets the title of a document. Its versions do not have the title and
// stay unchanged.
func documentRenamed(documents *versions, e *choir.Event, p *choir.DocumentRenamed) error {
	heads := documentHeadsTable.of(documents.view)
	head, known, err := heads.get(p.Document)
	if err != nil || !known {
		return err
	}
	head.Title = p.Title
	heads.put(p.Document, head)
	c, err := documents.get(string(p.Document))
	if err != nil || !c.exists {
		return err
	}
	var doc Document
	if err := json.Unmarshal([]byte(c.value), &doc); err != nil {
		return damagedRow(documents.table, string(p.Document), err)
	}
	doc.Title, doc.Seq, doc.At = p.Title, e.Seq, e.Time
	return setDocument(documents, doc)
}

func documentRemoved(documents *versions, e *choir.Event, p *choir.DocumentRemoved) error {
	return documents.endVersion(string(p.Document), e.Seq)
}

// addVersion stores a version and makes it the current one.
func addVersion(documents *versions, doc Document) error {
	version := row{key: string(doc.ID), seq: uint64(doc.Version)}
	if err := documentVersionsTable.of(documents.view).addJSON(version, doc); err != nil {
		return err
	}
	return setDocument(documents, doc)
}

// setDocument makes a version the current one, without its content.
func setDocument(documents *versions, doc Document) error {
	doc.Content, doc.Blob = "", ""
	return documents.setJSON(string(doc.ID), doc.Seq, doc)
}

// rewindDocuments gives each document that differs from its earlier state a new version
// with the earlier content, so that a version number never has two contents.
func rewindDocuments(documents *versions, e *choir.Event, p *choir.TimelineRewound) error {
	changes, err := documents.view.base.changed(documents.table, p.ToSeq)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.then == nil {
			if err := documents.endVersion(c.key, e.Seq); err != nil {
				return err
			}
			continue
		}
		var then Document
		if err := json.Unmarshal([]byte(*c.then), &then); err != nil {
			return damagedRow(documents.table, c.key, err)
		}
		if err := restoreDocument(documents, e, then, p.ToSeq); err != nil {
			return err
		}
	}
	return nil
}

func restoreDocument(documents *versions, e *choir.Event, then Document, to uint64) error {
	doc, err := documents.view.base.document(string(then.ID), then.Version)
	if err != nil {
		return err
	}
	heads := documentHeadsTable.of(documents.view)
	head, _, err := heads.get(then.ID)
	if err != nil {
		return err
	}
	head.Highest++
	head.Title = then.Title
	heads.put(then.ID, head)
	doc.Title = then.Title
	doc.Note = fmt.Sprintf("version %d, as after event %d", then.Version, to)
	doc.Version, doc.Seq, doc.At = head.Highest, e.Seq, e.Time
	return addVersion(documents, doc)
}

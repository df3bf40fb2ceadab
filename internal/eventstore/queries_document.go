package eventstore

import (
	"context"
	"strconv"

	"choiros/internal/choir"
)

// Documents lists documents as of an event (0 means now) in the order of their
// ids, at the version they had then, without content: see Document.
func (s *Store) Documents(ctx context.Context, asOf uint64) ([]Document, error) {
	return list[Document](ctx, s, "SELECT value FROM documents WHERE from_seq <= ?1 AND to_seq > ?1 ORDER BY key", asOfNow(asOf))
}

// Document is one version of a document with its content; version -1 means the
// current one. Code not_found, also for the current version of one that a rewind
// took away.
func (s *Store) Document(ctx context.Context, id choir.ID, version int) (Document, error) {
	if version >= 0 {
		return one[Document](ctx, s, "document", string(id)+" version "+strconv.Itoa(version),
			"SELECT value FROM document_versions WHERE key = ? AND version = ?", id, version)
	}
	return one[Document](ctx, s, "document", string(id), `SELECT v.value FROM documents d JOIN document_versions v
		ON v.key = d.key AND v.version = json_extract(d.value, '$.version')
		WHERE d.key = ? AND d.to_seq = 9007199254740991`, id)
}

// DocumentVersions lists all versions of a document with their content, oldest
// first.
func (s *Store) DocumentVersions(ctx context.Context, id choir.ID) ([]Document, error) {
	return list[Document](ctx, s, "SELECT value FROM document_versions WHERE key = ? ORDER BY version", id)
}

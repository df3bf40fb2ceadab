package eventstore

import (
	"context"
	"strconv"

	"choiros/internal/choir"
)

// authorSQL returns the SQL that adds "by", the source of the row's event, to the value
// of a table's row.
func authorSQL(table string) string {
	return ", '$.by', (SELECT json_extract(e.event, '$.source') FROM events e WHERE e.seq = json_extract(" + table + ".value, '$.seq'))"
}

// Documents lists documents as of event asOf (0 means now) ordered by id, each at its
// version of that time and without content. By is the source of the last change.
func (t *Tables) Documents(ctx context.Context, asOf uint64) ([]Document, error) {
	holds, args := holding(asOf)
	return list[Document](ctx, t, "SELECT json_set(value"+authorSQL("documents")+") FROM documents WHERE "+holds+" ORDER BY key", args...)
}

// Document returns one version of a document with its content; version -1 means the
// current one. Code not_found: there is no such version, or a rewind removed the
// document.
func (t *Tables) Document(ctx context.Context, id choir.ID, version int) (Document, error) {
	if version >= 0 {
		return one[Document](ctx, t, "document", string(id)+" version "+strconv.Itoa(version),
			"SELECT json_set(value"+authorSQL("document_versions")+") FROM document_versions WHERE key = ? AND version = ?", id, version)
	}
	return one[Document](ctx, t, "document", string(id), `SELECT json_set(v.value`+authorSQL("v")+`, '$.title', json_extract(d.value, '$.title'))
		FROM documents d JOIN document_versions v ON v.key = d.key AND v.version = json_extract(d.value, '$.version')
		WHERE d.key = ? AND d.to_seq = 9007199254740991`, id)
}

// DocumentVersions lists all versions of a document with their content, oldest
// first.
func (t *Tables) DocumentVersions(ctx context.Context, id choir.ID) ([]Document, error) {
	return list[Document](ctx, t, "SELECT value FROM document_versions WHERE key = ? ORDER BY version", id)
}

// VersionsBefore lists up to limit versions of a document without content, newest
// first: all versions for before 0, else those below before.
func (t *Tables) VersionsBefore(ctx context.Context, id choir.ID, before, limit int) ([]Document, error) {
	return list[Document](ctx, t, "SELECT json_remove(json_set(value"+authorSQL("document_versions")+`), '$.content', '$.blob')
		FROM document_versions WHERE key = ?1 AND (?2 = 0 OR version < ?2) ORDER BY version DESC LIMIT ?3`, id, before, limit)
}

// Overlays lists the overlays of a document as of event asOf (0 means now), in the
// order of their events.
func (t *Tables) Overlays(ctx context.Context, id choir.ID, asOf uint64) ([]Overlay, error) {
	holds, args := holding(asOf, id)
	return list[Overlay](ctx, t, `SELECT value FROM overlays WHERE key > ?1 || '/' AND key < ?1 || '0'
		AND `+holds+` ORDER BY json_extract(value, '$.seq')`, args...)
}

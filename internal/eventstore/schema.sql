-- The copy of the journal: the same bytes.
CREATE TABLE events (
  seq   INTEGER PRIMARY KEY,
  id    TEXT NOT NULL UNIQUE,
  type  TEXT NOT NULL,
  run   TEXT,
  event TEXT NOT NULL
);
CREATE INDEX events_of_run ON events (run, seq) WHERE run IS NOT NULL;
-- The projects, in the order in which they came, without reading the log.
CREATE INDEX events_of_projects ON events (seq) WHERE type = 'repo.added';
-- Which caches snapshots leave out, without reading the log.
CREATE INDEX events_of_caches ON events (seq) WHERE type = 'caches.left_out';

-- How far each consumer has handled the log: the event it stands at, and its hash. No
-- projection: it follows from no event, and outlives a rebuild.
CREATE TABLE cursors (name TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID;

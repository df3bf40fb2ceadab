-- The copy of the journal: the same bytes.
CREATE TABLE events (
  seq   INTEGER PRIMARY KEY,
  id    TEXT NOT NULL UNIQUE,
  type  TEXT NOT NULL,
  run   TEXT,
  event TEXT NOT NULL
);
CREATE INDEX events_of_run ON events (run, seq) WHERE run IS NOT NULL;

-- Projections. "value" is JSON of the Go type named before the table.
-- runs: Run
CREATE TABLE runs (key TEXT PRIMARY KEY, seq INTEGER NOT NULL, state TEXT NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX runs_by_seq ON runs (seq);
CREATE INDEX runs_open ON runs (seq) WHERE state IN ('planning', 'running', 'waiting');
-- tasks: Task
CREATE TABLE tasks (key TEXT PRIMARY KEY, seq INTEGER NOT NULL, run TEXT NOT NULL, state TEXT NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX tasks_of_run ON tasks (run, seq);
CREATE INDEX tasks_open ON tasks (seq) WHERE state <> 'returned';
-- conversations: Conversation
CREATE TABLE conversations (key TEXT PRIMARY KEY, seq INTEGER NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX conversations_by_seq ON conversations (seq);
-- messages: Message; key is the conversation
CREATE TABLE messages (key TEXT NOT NULL, seq INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (key, seq)) WITHOUT ROWID;
-- checkpoints: Checkpoint
CREATE TABLE checkpoints (key TEXT PRIMARY KEY, seq INTEGER NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX checkpoints_by_seq ON checkpoints (seq);
-- snapshots: choir.SnapshotTaken
CREATE TABLE snapshots (seq INTEGER PRIMARY KEY, value TEXT NOT NULL);
-- usage: Usage; key is the run, empty for calls without one
CREATE TABLE usage (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- document_heads: documentHead: what a rewind leaves
CREATE TABLE document_heads (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- document_versions: Document
CREATE TABLE document_versions (key TEXT NOT NULL, version INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (key, version)) WITHOUT ROWID;

-- What can be rewound keeps versions: a row holds from event from_seq until
-- before event to_seq, which is 9007199254740991 while it still holds.
-- files: choir.FileState; key is the path
CREATE TABLE files (key TEXT NOT NULL, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (key, from_seq)) WITHOUT ROWID;
-- documents: Document without content
CREATE TABLE documents (key TEXT NOT NULL, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (key, from_seq)) WITHOUT ROWID;

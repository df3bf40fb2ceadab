-- undos: Undo; key is the run, the task or the tool call. A rewind to before the undo takes the row back.
CREATE TABLE undos (key TEXT NOT NULL, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (key, from_seq)) WITHOUT ROWID;
CREATE INDEX undos_now ON undos (key) WHERE to_seq = 9007199254740991;

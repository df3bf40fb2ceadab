-- overlays: Overlay; key is the document's id, "/" and the overlay's
CREATE TABLE overlays (key TEXT NOT NULL, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (key, from_seq)) WITHOUT ROWID;

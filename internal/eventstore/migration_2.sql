-- settings: Setting; key is "theme", or "setting/" and its name
CREATE TABLE settings (key TEXT NOT NULL, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (key, from_seq)) WITHOUT ROWID;
-- windows: Window
CREATE TABLE windows (key TEXT NOT NULL, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (key, from_seq)) WITHOUT ROWID;

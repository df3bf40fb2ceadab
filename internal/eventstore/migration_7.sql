-- firsts: the first event of its type about a subject; key is choir.OnceKey
CREATE TABLE firsts (key TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;

-- What holds now, without its past: reads of it stay as fast as on a new log.
CREATE INDEX windows_now ON windows (key) WHERE to_seq = 9007199254740991;
CREATE INDEX settings_now ON settings (key) WHERE to_seq = 9007199254740991;
CREATE INDEX documents_now ON documents (key) WHERE to_seq = 9007199254740991;
CREATE INDEX overlays_now ON overlays (key) WHERE to_seq = 9007199254740991;
CREATE INDEX files_now ON files (key) WHERE to_seq = 9007199254740991;

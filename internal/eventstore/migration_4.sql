-- Which caches snapshots leave out, without reading the log.
CREATE INDEX events_of_caches ON events (seq) WHERE type = 'caches.left_out';

-- The projects, in the order in which they came, without reading the log.
CREATE INDEX events_of_projects ON events (seq) WHERE type = 'repo.added';

package eventstore

import "choiros/internal/choir"

// stillHolds is the to_seq of a version that no event has ended.
const stillHolds = 1<<53 - 1

// versioned is a projection that can be rewound. It stores every version of a row with
// the events that began and ended it.
type versioned struct{ projection }

// newVersioned returns a versioned projection. An index of the current versions alone
// keeps reads of them fast on a long log.
func newVersioned(name string, since int, on reducers) *versioned {
	return &versioned{projection{
		name: name, since: since, key: 2, columns: []column{keyColumn, fromColumn, toColumn, valueColumn},
		indexes: []string{name + "_now ON " + name + " (key) WHERE " + holdsNow}, on: on,
	}}
}

func (t *versioned) in(v *view) part {
	return &versions{view: v, table: &t.projection, live: map[string]*version{}}
}

// versions caches the current rows of a versioned projection in a view.
type versions struct {
	view  *view
	table *projection
	live  map[string]*version
}

// version is the current version of a row; an absent row is cached too.
type version struct {
	from   uint64
	value  string
	exists bool
	dirty  bool
}

func (s *versions) get(key string) (*version, error) {
	if c := s.live[key]; c != nil {
		return c, nil
	}
	from, value, ok, err := s.view.base.open(s.table, key)
	if err != nil {
		return nil, err
	}
	c := &version{from: from, value: value, exists: ok}
	s.live[key] = c
	return c, nil
}

// set makes value the current version of a key from event seq on.
func (s *versions) set(key string, seq uint64, value string) error {
	c, err := s.get(key)
	if err != nil || c.exists && c.value == value {
		return err
	}
	if c.exists && c.from < seq {
		s.view.add(s.table, row{key: key, seq: c.from, to: seq, value: c.value})
	}
	*c = version{from: seq, value: value, exists: true, dirty: true}
	return nil
}

// setJSON is set with the JSON of v.
func (s *versions) setJSON(key string, seq uint64, v any) error {
	value, err := encode(v)
	if err != nil {
		return err
	}
	return s.set(key, seq, value)
}

// endVersion makes the key absent from event seq on.
func (s *versions) endVersion(key string, seq uint64) error {
	c, err := s.get(key)
	if err != nil || !c.exists {
		return err
	}
	s.view.add(s.table, row{key: key, seq: c.from, to: seq, value: c.value})
	*c = version{}
	return nil
}

// restoreVersions is the reducer of a rewind: the values that were current after an
// earlier event become current again, as new versions.
func restoreVersions(s *versions, e *choir.Event, p *choir.TimelineRewound) error {
	changes, err := s.view.base.changed(s.table, p.ToSeq)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.then == nil {
			err = s.endVersion(c.key, e.Seq)
		} else {
			err = s.set(c.key, e.Seq, *c.then)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *versions) queueChanged() error {
	for key, c := range s.live {
		if c.dirty {
			s.view.add(s.table, row{key: key, seq: c.from, to: stillHolds, value: c.value})
			c.dirty = false
		}
	}
	return nil
}

func (s *versions) forget() { s.live = map[string]*version{} }

func (s *versions) size() int { return len(s.live) }

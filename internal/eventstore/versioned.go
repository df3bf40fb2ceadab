package eventstore

import "choiros/internal/choir"

// stillHolds is the to_seq of a version that no later event has ended.
const stillHolds = 1<<53 - 1

// versioned is a projection that can be rewound: it keeps every version of a row, each
// from the event that made it to the one that ended it.
type versioned struct{ projection }

// newVersioned makes the value of a versioned projection. What holds now has an
// index without its past: reads of it stay as fast as on a new log.
func newVersioned(name string, since int, on reducers) *versioned {
	return &versioned{projection{
		name: name, since: since, key: 2, columns: []column{keyColumn, fromColumn, toColumn, valueColumn},
		indexes: []string{name + "_now ON " + name + " (key) WHERE " + holdsNow}, on: on,
	}}
}

func (t *versioned) in(v *view) part {
	return &versions{view: v, table: &t.projection, live: map[string]*version{}}
}

// versions are the rows of a versioned projection that a view remembers.
type versions struct {
	view  *view
	table *projection
	live  map[string]*version
}

// version is the one that still holds; one that does not exist is remembered too.
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

// set makes a value hold from an event on.
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

// setJSON is set for the JSON of a value.
func (s *versions) setJSON(key string, seq uint64, v any) error {
	value, err := encode(v)
	if err != nil {
		return err
	}
	return s.set(key, seq, value)
}

// endVersion makes the key absent from an event on.
func (s *versions) endVersion(key string, seq uint64) error {
	c, err := s.get(key)
	if err != nil || !c.exists {
		return err
	}
	s.view.add(s.table, row{key: key, seq: c.from, to: seq, value: c.value})
	*c = version{}
	return nil
}

// goBack is the reducer of a rewind: the values that held after an earlier event
// hold again, as new versions.
func goBack(s *versions, e *choir.Event, p *choir.TimelineRewound) error {
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

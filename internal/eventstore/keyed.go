package eventstore

import (
	"encoding/json"

	"choiros/internal/choir"
)

// keyed is a projection with one row per key, whose value is the JSON of a V.
type keyed[V any] struct {
	projection
	index func(*V) row // the columns beside key and value
}

func (t *keyed[V]) in(v *view) part { return &cells[V]{view: v, table: t, live: map[string]*cell[V]{}} }

// of returns the rows of the projection in a view.
func (t *keyed[V]) of(v *view) *cells[V] { return v.parts[&t.projection].(*cells[V]) }

// cells caches the rows of a keyed projection in a view.
type cells[V any] struct {
	view  *view
	table *keyed[V]
	live  map[string]*cell[V]
}

type cell[V any] struct {
	value  V
	exists bool
	dirty  bool
}

// get returns the row of a key; ok is false if there is none. The caller saves changes
// with put.
func (k *cells[V]) get(key choir.ID) (v V, ok bool, err error) {
	c := k.live[string(key)]
	if c == nil {
		c = &cell[V]{}
		raw, ok, err := k.view.base.value(&k.table.projection, string(key))
		if err != nil {
			return v, false, err
		}
		if ok {
			c.exists = true
			if err := json.Unmarshal([]byte(raw), &c.value); err != nil {
				return v, false, damagedRow(&k.table.projection, string(key), err)
			}
		}
		k.live[string(key)] = c
	}
	return c.value, c.exists, nil
}

func (k *cells[V]) put(key choir.ID, v V) { k.live[string(key)] = &cell[V]{v, true, true} }

// edit returns the row of a key, a new one if there is none, for the caller to change
// in place.
func (k *cells[V]) edit(key choir.ID) (*V, error) {
	if _, _, err := k.get(key); err != nil {
		return nil, err
	}
	c := k.live[string(key)]
	c.exists, c.dirty = true, true
	return &c.value, nil
}

func (k *cells[V]) queueChanged() error {
	for key, c := range k.live {
		if !c.dirty {
			continue
		}
		raw, err := json.Marshal(&c.value)
		if err != nil {
			return damagedRow(&k.table.projection, key, err)
		}
		var r row
		if k.table.index != nil {
			r = k.table.index(&c.value)
		}
		r.key, r.value = key, string(raw)
		k.view.add(&k.table.projection, r)
		c.dirty = false
	}
	return nil
}

func (k *cells[V]) forget() { k.live = map[string]*cell[V]{} }

func (k *cells[V]) size() int { return len(k.live) }

// Package cache is a cache of bounded size that forgets what was used longest ago.
package cache

import "container/list"

type entry struct{ key, value string }

// Cache holds up to a number of entries. It is not safe for concurrent use.
type Cache struct {
	size  int
	order *list.List // of *entry, the one used last in front
	by    map[string]*list.Element
}

// New returns a cache of size entries.
func New(size int) *Cache {
	return &Cache{size: size, order: list.New(), by: map[string]*list.Element{}}
}

// Get returns the value of a key, and whether it is there.
func (c *Cache) Get(key string) (string, bool) {
	e, ok := c.by[key]
	if !ok {
		return "", false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry).value, true
}

// Put sets the value of a key.
func (c *Cache) Put(key, value string) {
	if e, ok := c.by[key]; ok {
		e.Value.(*entry).value = value
		c.order.MoveToFront(e)
		return
	}
	if c.order.Len() == c.size {
		last := c.order.Back()
		delete(c.by, last.Value.(*entry).key)
		c.order.Remove(last)
	}
	c.by[key] = c.order.PushFront(&entry{key, value})
}

// Len returns the number of entries.
func (c *Cache) Len() int { return c.order.Len() }

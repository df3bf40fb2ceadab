// Package cache is a cache of bounded size and age that forgets what was used longest ago.
package cache

import (
	"container/list"
	"time"
)

type entry struct {
	key, value string
	at         time.Time
}

// Cache holds up to a number of entries for a time. It is not safe for concurrent use.
type Cache struct {
	size  int
	ttl   time.Duration
	clock func() time.Time
	order *list.List // of *entry, the one used last in front
	by    map[string]*list.Element
}

// New returns a cache of size entries that expire after ttl, 0 for never.
func New(size int, ttl time.Duration, clock func() time.Time) *Cache {
	return &Cache{size: size, ttl: ttl, clock: clock, order: list.New(), by: map[string]*list.Element{}}
}

func (c *Cache) expired(e *list.Element) bool {
	return c.ttl > 0 && c.clock().Sub(e.Value.(*entry).at) >= c.ttl
}

func (c *Cache) remove(e *list.Element) {
	delete(c.by, e.Value.(*entry).key)
	c.order.Remove(e)
}

func (c *Cache) sweep() {
	for e := c.order.Front(); e != nil; {
		next := e.Next()
		if c.expired(e) {
			c.remove(e)
		}
		e = next
	}
}

// Get returns the value of a key, and whether it is there.
func (c *Cache) Get(key string) (string, bool) {
	e, ok := c.by[key]
	if !ok {
		return "", false
	}
	if c.expired(e) {
		c.remove(e)
		return "", false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry).value, true
}

// Put sets the value of a key.
func (c *Cache) Put(key, value string) {
	if e, ok := c.by[key]; ok {
		c.remove(e)
	}
	if c.order.Len() == c.size {
		c.sweep()
	}
	if c.order.Len() == c.size {
		c.remove(c.order.Back())
	}
	c.by[key] = c.order.PushFront(&entry{key, value, c.clock()})
}

// Len returns the number of entries that have not expired.
func (c *Cache) Len() int {
	c.sweep()
	return c.order.Len()
}

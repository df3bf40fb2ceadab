package cache

import (
	"testing"
	"time"
)

func TestHidden(t *testing.T) {
	now := time.Unix(1000, 0)
	c := New(2, time.Minute, func() time.Time { return now })
	c.Put("a", "1")
	now = now.Add(40 * time.Second)
	c.Put("b", "2")
	now = now.Add(30 * time.Second)
	if c.Len() != 1 {
		t.Errorf("%d entries have not expired, want 1", c.Len())
	}
	if _, ok := c.Get("a"); ok {
		t.Error("a has not expired")
	}
	c.Put("b", "3")
	now = now.Add(50 * time.Second)
	if v, ok := c.Get("b"); !ok || v != "3" {
		t.Errorf("a renewed entry is %q, %v", v, ok)
	}
}

func TestHiddenExpiredMakeRoomFirst(t *testing.T) {
	now := time.Unix(1000, 0)
	c := New(2, time.Minute, func() time.Time { return now })
	c.Put("old", "1")
	now = now.Add(50 * time.Second)
	c.Put("young", "2")
	c.Get("old") // the one used last, and the first to expire
	now = now.Add(20 * time.Second)
	c.Put("new", "3")
	if _, ok := c.Get("young"); !ok {
		t.Error("young had to go although old had expired")
	}
	if _, ok := c.Get("new"); !ok {
		t.Error("new is not there")
	}
}

func TestHiddenWithoutTime(t *testing.T) {
	now := time.Unix(1000, 0)
	c := New(2, 0, func() time.Time { return now })
	c.Put("a", "1")
	c.Put("b", "2")
	now = now.Add(1000 * time.Hour)
	c.Get("a")
	c.Put("c", "3")
	if _, ok := c.Get("b"); ok || c.Len() != 2 {
		t.Error("b is still there")
	}
}

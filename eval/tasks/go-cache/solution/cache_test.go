package cache

import (
	"testing"
	"time"
)

func TestTheLongestUnusedGoes(t *testing.T) {
	c := New(2, 0, time.Now)
	c.Put("a", "1")
	c.Put("b", "2")
	c.Get("a")
	c.Put("c", "3")
	if _, ok := c.Get("b"); ok {
		t.Error("b is still there")
	}
}

package cache

import "testing"

func TestTheLongestUnusedGoes(t *testing.T) {
	c := New(2)
	c.Put("a", "1")
	c.Put("b", "2")
	c.Get("a")
	c.Put("c", "3")
	if _, ok := c.Get("b"); ok {
		t.Error("b is still there")
	}
	if v, ok := c.Get("a"); !ok || v != "1" {
		t.Errorf("a is %q, %v", v, ok)
	}
	if c.Len() != 2 {
		t.Errorf("it has %d entries", c.Len())
	}
}

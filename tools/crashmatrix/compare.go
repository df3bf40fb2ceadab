package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// derived holds the tables of the SQLite copy against what the checker makes of
// the events by itself.
func (c *checker) derived() {
	a, err := derive(c.events)
	if err != nil {
		c.errorf("%v", err)
		return
	}
	for table, h := range map[string]*history{
		"files": &a.files, "documents": &a.documents, "overlays": &a.overlays, "windows": &a.windows, "settings": &a.settings, "undos": &a.undos,
	} {
		want := map[string]value{}
		for _, s := range h.rows() {
			want[fmt.Sprintf("%s from %d to %d", s.key, s.from, s.to)] = s.value
		}
		c.table(table, "key || ' from ' || from_seq || ' to ' || to_seq", want)
	}
	c.table("document_versions", "key || '/' || version", a.versions)
	c.table("document_heads", "key", a.heads)
	c.table("usage", "key", a.usage)
}

// table compares rows by their keys.
func (c *checker) table(name, key string, want map[string]value) {
	got := map[string]value{}
	for _, row := range c.sqlite("SELECT " + key + " || char(31) || value FROM " + name) {
		at, raw, _ := strings.Cut(row, "\x1f")
		var v value
		if err := json.Unmarshal([]byte(raw), &v); err != nil {
			c.errorf("projection %s, %s: %v", name, at, err)
			return
		}
		got[at] = v
	}
	var wrong []string
	for at, v := range want {
		if stored, ok := got[at]; !ok {
			wrong = append(wrong, at+" is not there")
		} else if !same(stored, v) {
			wrong = append(wrong, fmt.Sprintf("%s is %.300v, the events give %.300v", at, stored, v))
		}
		delete(got, at)
	}
	for at := range got {
		wrong = append(wrong, at+" does not follow from the events")
	}
	slices.Sort(wrong)
	for i, w := range wrong {
		if i == 3 {
			c.errorf("projection %s: %d rows in all are wrong", name, len(wrong))
			return
		}
		c.errorf("projection %s: %s", name, w)
	}
}

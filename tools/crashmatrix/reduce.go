package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// value is a row's JSON. It is compared member by member, so that a member which
// this program has never heard of is found as well.
type value = map[string]any

// forEver is the to_seq of a version that still holds.
const forEver = 1<<53 - 1

// span is a version of something that can be rewound.
type span struct {
	key      string
	from, to uint64
	value    value
}

// history is a table of docs/FORMAT.md whose rows hold from one event to before
// another, made from the events alone.
type history struct {
	ended []span
	now   map[string]span
}

// set makes a value hold from an event on. The same value again is no version.
func (h *history) set(seq uint64, key string, v value) {
	old, ok := h.now[key]
	if ok && same(old.value, v) {
		return
	}
	if ok && old.from < seq {
		old.to = seq
		h.ended = append(h.ended, old)
	}
	h.now[key] = span{key, seq, forEver, v}
}

func (h *history) end(seq uint64, key string) {
	if old, ok := h.now[key]; ok {
		old.to = seq
		h.ended = append(h.ended, old)
		delete(h.now, key)
	}
}

// change replaces some members of what is there; of what is not there nothing.
func (h *history) change(seq uint64, key string, members value) {
	if old, ok := h.now[key]; ok {
		v := maps.Clone(old.value)
		for name, m := range members {
			if v[name] = m; empty(m) {
				delete(v, name)
			}
		}
		h.set(seq, key, v)
	}
}

// then is every value as it was after an event.
func (h *history) then(to uint64) map[string]value {
	out := map[string]value{}
	for _, s := range append(slices.Collect(maps.Values(h.now)), h.ended...) {
		if s.from <= to && to < s.to {
			out[s.key] = s.value
		}
	}
	return out
}

// differing are the keys whose value now is not the one of then.
func (h *history) differing(then map[string]value) (keys []string) {
	for key, s := range h.now {
		if old, ok := then[key]; !ok || !same(old, s.value) {
			keys = append(keys, key)
		}
	}
	for key := range then {
		if _, ok := h.now[key]; !ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// rewind makes what held after an event hold again.
func (h *history) rewind(seq, to uint64) {
	then := h.then(to)
	for _, key := range h.differing(then) {
		if v, ok := then[key]; ok {
			h.set(seq, key, v)
		} else {
			h.end(seq, key)
		}
	}
}

func (h *history) rows() []span {
	return append(slices.Collect(maps.Values(h.now)), h.ended...)
}

func same(a, b any) bool {
	x, err := json.Marshal(a)
	y, yerr := json.Marshal(b)
	return err == nil && yerr == nil && string(x) == string(y)
}

// empty reports whether a member is left out of a row.
func empty(m any) bool { return m == nil || m == "" || m == float64(0) }

// answers are the projections that the checker makes of the events by itself,
// for what docs/CONTRACTS.md says the events mean.
type answers struct {
	files, documents, overlays, windows, settings, undos history

	heads    map[string]value // by document
	versions map[string]value // by document and number
	usage    map[string]value // by run
}

// derive reduces a log.
func derive(events []event) (*answers, error) {
	a := &answers{heads: map[string]value{}, versions: map[string]value{}, usage: map[string]value{}}
	for _, h := range []*history{&a.files, &a.documents, &a.overlays, &a.windows, &a.settings, &a.undos} {
		h.now = map[string]span{}
	}
	for i := range events {
		p := value{}
		if err := json.Unmarshal(events[i].Payload, &p); err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
		if reduce := meanings[events[i].Type]; reduce != nil {
			reduce(a, &events[i], p)
		}
	}
	return a, nil
}

// pick takes members of a payload that have another name in the row: pairs of
// the row's name and the payload's. Empty ones are left out.
func pick(p value, names ...string) value {
	out := value{}
	for i := 0; i < len(names); i += 2 {
		if m := p[names[i+1]]; !empty(m) {
			out[names[i]] = m
		}
	}
	return out
}

func text(p value, name string) string {
	s, _ := p[name].(string) // a member that is not there is empty
	return s
}

func number(p value, name string) float64 {
	n, _ := p[name].(float64) // a member that is not there is 0
	return n
}

// list is a member that is a list of objects.
func list(p value, name string) (out []value) {
	all, _ := p[name].([]any) // a member that is not there is empty
	for _, one := range all {
		if v, ok := one.(value); ok {
			out = append(out, v)
		}
	}
	return out
}

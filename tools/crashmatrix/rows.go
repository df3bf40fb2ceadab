package main

import (
	"context"
	"strings"
)

// rows is the table.
func (l *lab) rows(context.Context) ([]row, error) {
	var all []row
	for _, p := range points {
		threads := usual
		if len(p.steps) > 0 {
			threads = p.steps
		}
		all = append(all, fault{point: p, nth: 1, threads: threads}.row(), fault{point: p, nth: 1, threads: threads, cut: "drop"}.row())
	}
	return l.pick(all), nil
}

// pick leaves out what was not asked for.
func (l *lab) pick(all []row) (out []row) {
	for _, r := range all {
		if strings.Contains(r.name, l.only) {
			out = append(out, r)
		}
	}
	return out
}

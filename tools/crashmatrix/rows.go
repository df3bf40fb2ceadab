package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// few and many are how often a point is tried at most, each way.
const (
	few  = 1
	many = 5
)

// rows is the table.
func (l *lab) rows(ctx context.Context) ([]row, error) {
	if l.random {
		return l.pick(l.randomRows()), nil
	}
	passed, err := l.calibrate(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the passings: %w", err)
	}
	all := append(l.faults(passed), exportCut())
	repeat := 6
	if l.short {
		repeat = 1
	}
	for n := range repeat {
		for _, h := range harms {
			all = append(all, h.row(n+1), h.whileAppending(n+1))
		}
		for _, h := range unseenByOpen {
			all = append(all, h.inTheBackground(n+1))
		}
		for _, h := range unseenAtRest {
			all = append(all, h.whileAppending(n+1))
		}
		for _, u := range upkeeps {
			all = append(all, u.row(n+1))
		}
		for _, h := range filled {
			all = append(all, diskFullWhileRepairing(h, n+1))
		}
		all = append(all, bothRow(3+2*n), bothWhileAppending(3+2*n), fullDisk(n+1), clock(n+1))
	}
	if l.short {
		all = fewCuts(3, every(4, all))
	}
	all = append(all, sabotaged()...)
	return l.pick(all), nil
}

// every picks one row in n, of every kind.
func every(n int, rows []row) (out []row) {
	for i, r := range rows {
		if i%n == 0 {
			out = append(out, r)
		}
	}
	return out
}

// fewCuts leaves out all but one in n of the power cuts, of which each takes three times
// as long as a kill at the same point. The points stay: each has a kill.
func fewCuts(n int, rows []row) []row {
	cuts := 0
	return slices.DeleteFunc(rows, func(r row) bool {
		if !strings.HasPrefix(r.name, "power cut") {
			return false
		}
		cuts++
		return cuts%n != 1
	})
}

// calibrate counts how often each point is passed when nothing happens.
func (l *lab) calibrate(ctx context.Context) (map[string]int, error) {
	b, err := l.bench("calibrate")
	if err != nil {
		return nil, err
	}
	passed := map[string]int{}
	err = func() error {
		if err := b.used(ctx); err != nil {
			return err
		}
		trace := filepath.Join(b.dir, "trace")
		if err := errors.Join(b.startChoir("trace "+trace), b.watch(b.seed, usual), b.finish(ctx)); err != nil {
			return err
		}
		raw, err := os.ReadFile(trace)
		for name := range strings.Lines(string(raw)) {
			passed[strings.TrimSpace(name)]++
		}
		return err
	}()
	return passed, errors.Join(err, b.close())
}

// faults are the kills and power cuts at every point, at passings that are
// spread over the first half of what a run passes: the second half may come in
// fewer groups.
func (l *lab) faults(passed map[string]int) (out []row) {
	for _, p := range points {
		if p.export {
			out = append(out, exportKilled(p))
			continue
		}
		most, cuts := many, []string{"", "drop", "random"}
		if l.short {
			most, cuts = few, []string{"", "drop"}
		}
		if p.guest || p.fresh || p.damage != nil {
			most = min(most, 2)
		}
		if p.kills || p.slow && l.short {
			cuts = cuts[:1]
		}
		threads := p.steps
		if threads == nil {
			threads = usual
		}
		for i, how := range cuts {
			nths := p.nths
			if nths == nil {
				nths = spread(passed[p.name], most)
			}
			for _, nth := range nths {
				if how == "random" {
					how = fmt.Sprintf("random %d", i*100+nth)
				}
				out = append(out, fault{point: p, nth: nth, threads: threads, cut: how}.row())
			}
		}
	}
	return out
}

// spread picks up to most passings of n.
func spread(n, most int) []int {
	out := []int{1}
	for i := 1; i < most; i++ {
		if nth := 1 + i*n/(2*most); !slices.Contains(out, nth) {
			out = append(out, nth)
		}
	}
	return out
}

// pick leaves out what was not asked for.
func (l *lab) pick(all []row) (out []row) {
	for _, r := range all {
		if strings.Contains(r.name, l.only) && (l.options.rows == 0 || len(out) < l.options.rows) {
			out = append(out, r)
		}
	}
	return out
}

// randomRows kill, or in every third row cut the power, at random moments.
func (l *lab) randomRows() (out []row) {
	for n := range max(l.options.rows, 1) {
		how := []string{"", "", "drop", "", "", "random"}[n%6]
		out = append(out, randomFault(n, how))
	}
	return out
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"choiros/internal/choir"
)

// What differs between the two moments that a rewind is measured between.
const (
	rewindFiles     = 1_000
	rewindChanged   = 100
	rewindWindows   = 20
	rewindDocuments = 5
	rewindPeer      = "git reset --hard between the same two trees"
)

// benchRewind measures going back to another moment with the whole computer:
// tasks stopped, tree looked at, 100 of 1,000 files rewritten, windows and
// documents put back, told durably.
func benchRewind(ctx context.Context, l *lab, emit func(Row)) error {
	row := Row{Case: "100 of 1,000 files", Unit: "ms", Peer: rewindPeer, Isolated: true, Durable: l.onDisk()}
	if row.Skipped = l.cannotServe(ctx); row.Skipped != "" {
		emit(row)
		return nil
	}
	row, err := l.rewinds(ctx, row)
	if err == nil {
		emit(row)
	}
	return err
}

func (l *lab) rewinds(ctx context.Context, row Row) (_ Row, err error) {
	m, err := l.start(ctx, rewindFiles)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, m.stop()) }()
	peer, err := l.gitMoments(ctx)
	if err != nil {
		return row, err
	}
	var moments [2]uint64
	for i := range moments {
		if moments[i], err = m.moment(ctx, i); err != nil {
			return row, err
		}
	}
	turn := 0
	t := turns{n: l.count(50), warmup: 3, peer: peer}
	t.ours = func(ctx context.Context) (float64, error) {
		began := time.Now()
		r, err := m.c.Rewinder().Rewind(ctx, choir.RoleCLI, moments[turn%2], false)
		took := millis(time.Since(began))
		turn++
		if err == nil && len(r.Changes) < rewindChanged {
			err = choir.E("bench.rewind", choir.CodeInternal, "the rewind changed %d paths", len(r.Changes))
		}
		return took, err
	}
	return t.measure(ctx, row)
}

// moment makes the computer differ from what it was, and returns where that is in
// the log.
func (m *machine) moment(ctx context.Context, nth int) (uint64, error) {
	for i := range rewindChanged {
		name, _ := treeFile(i * rewindFiles / rewindChanged)
		if err := change(m.file(name)); err != nil {
			return 0, err
		}
	}
	run := choir.DeriveID(m.c.ID(), "run")
	var windows, documents []choir.Draft
	add := func(to *[]choir.Draft, name string, p choir.Payload) error {
		d, err := choir.NewDraft(choir.DeriveID(run, name, fmt.Sprint(nth)), p)
		*to = append(*to, d.ForRun(run, ""))
		return err
	}
	for i := range rewindWindows {
		name := fmt.Sprint("window ", i, " of ", nth)
		err := add(&windows, name, choir.WindowOpened{Window: choir.DeriveID(run, name), App: "files", Title: name, Bounds: choir.Rect{X: i, Width: 640, Height: 480}})
		if err != nil {
			return 0, err
		}
	}
	for i := range rewindDocuments {
		id := choir.DeriveID(run, "document", fmt.Sprint(i))
		var p choir.Payload = choir.DocumentCreated{Document: id, Title: "Plan", Content: "# Plan\n"}
		if nth > 0 {
			p = choir.DocumentVersioned{Document: id, Version: nth, Content: fmt.Sprintf("# Plan\n\nstep %d\n", nth)}
		}
		if err := add(&documents, fmt.Sprint("document ", i), p); err != nil {
			return 0, err
		}
	}
	if _, err := m.c.Store().Append(ctx, choir.RoleShell, windows...); err != nil {
		return 0, err
	}
	if _, err := m.c.Store().Append(ctx, choir.RoleDirector, documents...); err != nil {
		return 0, err
	}
	// A task looks at the tree and records it.
	if _, err := m.do(ctx, nothing()); err != nil {
		return 0, err
	}
	head, _ := m.c.Store().Head()
	return head, nil
}

// gitMoments is the peer: two commits of an identical tree.
func (l *lab) gitMoments(ctx context.Context) (sample, error) {
	dir, err := l.folder()
	if err != nil {
		return nil, err
	}
	fails := func(err error) sample { return func(context.Context) (float64, error) { return 0, err } }
	g, err := newGitPeer(ctx, dir, rewindFiles)
	if err != nil {
		return fails(err), ctx.Err()
	}
	for _, tag := range []string{"m0", "m1"} {
		for i := range rewindChanged {
			name, _ := treeFile(i * rewindFiles / rewindChanged)
			if err := change(filepath.Join(dir, name)); err != nil {
				return nil, err
			}
		}
		if err := errors.Join(g.commit(ctx), g.git(ctx, "tag", tag)); err != nil {
			return fails(err), ctx.Err()
		}
	}
	turn := 0
	return func(ctx context.Context) (float64, error) {
		began := time.Now()
		err := g.git(ctx, "reset", "-q", "--hard", fmt.Sprint("m", turn%2))
		turn++
		return millis(time.Since(began)), err
	}, nil
}

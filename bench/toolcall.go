package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/projects"
)

const (
	callFiles  = 1_000
	statusPeer = "git status in an identical tree"
)

// benchToolCall measures the scans of the tree around a tool call: the scan after a
// call that changed one file, from the Associate's request until the event of the call,
// the snapshot and the file's event are durable; and the scan before a call, with
// nothing changed.
func benchToolCall(ctx context.Context, l *lab, emit func(Row)) (err error) {
	rows := []Row{{Case: "1,000 files, one changed", Peer: gitCommitPeer}, {Case: "1,000 files, none changed", Peer: statusPeer}}
	why := l.cannotServe(ctx)
	for i := range rows {
		rows[i].Unit, rows[i].Isolated, rows[i].Durable, rows[i].Skipped = "ms", true, l.onDisk(), why
		if why != "" {
			emit(rows[i])
		}
	}
	if why != "" {
		return nil
	}
	m, err := l.start(ctx, 1) // replaced by a tree that is not under git
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.stop()) }()
	tar, err := tarOf(callFiles)
	if err != nil {
		return err
	}
	if _, err := m.c.Projects().Add(ctx, choir.RoleCLI, projects.NewProject{Name: project, Replace: true}, tar); err != nil {
		return err
	}
	peers, err := l.callPeers(ctx)
	if err != nil {
		return err
	}
	n := 0
	for i, row := range rows {
		t := turns{n: l.count(200), warmup: 5, peer: peers[i]}
		t.ours = func(ctx context.Context) (float64, error) {
			n++
			before, after, err := m.call(ctx, n)
			return []float64{millis(after), millis(before)}[i], err
		}
		row, err := t.measure(ctx, row)
		if err != nil {
			return err
		}
		emit(row)
	}
	return nil
}

// callPeers commit one changed file, and look for one where none changed.
func (l *lab) callPeers(ctx context.Context) ([]sample, error) {
	commit, err := l.gitTree(ctx, callFiles)
	if err != nil {
		return nil, err
	}
	dir, err := l.folder()
	if err != nil {
		return nil, err
	}
	g, failed := newGitPeer(ctx, dir, callFiles)
	status := func(ctx context.Context) (float64, error) {
		if failed != nil {
			return 0, failed
		}
		began := time.Now()
		err := g.git(ctx, "status", "--porcelain")
		return millis(time.Since(began)), err
	}
	return []sample{commit, status}, ctx.Err()
}

// call plays one tool call as the Associate asks for it.
func (m *machine) call(ctx context.Context, n int) (before, after time.Duration, err error) {
	run := choir.DeriveID(m.c.ID(), "run of calls")
	id := choir.DeriveID(run, fmt.Sprint(n))
	before, err = m.timeAppend(ctx, run, choir.DeriveID(id, "called"), choir.ToolCalled{Call: id, Tool: "bash", Writes: true})
	if err == nil {
		err = change(m.file(changedFile(callFiles)))
	}
	if err != nil {
		return 0, 0, err
	}
	head, _ := m.c.Store().Head()
	after, err = m.timeAppend(ctx, run, choir.DeriveID(id, "returned"), choir.ToolReturned{Call: id, OK: true})
	if now, _ := m.c.Store().Head(); err == nil && now != head+3 {
		err = choir.E("bench.toolcall", choir.CodeInternal, "the call is told by %d events, not by three", now-head)
	}
	return before, after, err
}

// timeAppend appends one event by the verb and returns how long that took.
func (m *machine) timeAppend(ctx context.Context, run, id choir.ID, p choir.Payload) (time.Duration, error) {
	d, err := choir.NewDraft(id, p)
	if err != nil {
		return 0, err
	}
	raw, err := json.Marshal(choir.AppendRequest{Drafts: []choir.Draft{d.ForRun(run, "")}})
	if err != nil {
		return 0, choir.Wrap("bench.toolcall", choir.CodeInternal, err, "encode a request")
	}
	began := time.Now()
	_, err = m.c.Verbs().Handle(ctx, choir.Caller{Role: choir.RoleAssociate}, choir.VerbAppend, raw)
	return time.Since(began), err
}

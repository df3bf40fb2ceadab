package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"choiros/internal/choir"
)

// The computer that has been used for long, and the empty computer it is compared with.
const (
	deskChanges = 100_000
	deskFiles   = 60_000
	deskWindows = 20
	deskPeer    = "the same on an empty computer"
)

// question is something that a page asks of a computer again and again.
type question struct {
	name string
	ask  func(ctx context.Context, m *machine) error
}

var deskQuestions = []question{
	{"windows", func(ctx context.Context, m *machine) error { _, err := m.c.Store().Windows(ctx, 0); return err }},
	{"settings", func(ctx context.Context, m *machine) error { _, err := m.c.Store().Settings(ctx, 0); return err }},
	{"documents", func(ctx context.Context, m *machine) error { _, err := m.c.Store().Documents(ctx, 0); return err }},
	{"a folder's listing", func(ctx context.Context, m *machine) error {
		_, err := m.c.Workspace().ListFolder(ctx, "workspace/"+project+"/d000/e00", "", filesEach)
		return err
	}},
	{"GET of a changed file", func(ctx context.Context, m *machine) error { return m.getChanged(ctx) }},
}

// benchDesk measures reads after 100,000 changes and with 60,000 files, each
// beside the same read of an empty computer.
func benchDesk(ctx context.Context, l *lab, emit func(Row)) (err error) {
	row := Row{Unit: "ms", Peer: deskPeer, Isolated: true}
	if row.Skipped = l.cannotServe(ctx); row.Skipped != "" {
		for _, q := range deskQuestions {
			row.Case = q.name
			emit(row)
		}
		return nil
	}
	empty, err := l.start(ctx, filesEach)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, empty.stop()) }()
	files, changes := deskFiles, deskChanges
	if l.quick {
		files, changes = 1000, 3000
	}
	used, err := l.start(ctx, files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, used.stop()) }()
	if err := errors.Join(empty.use(ctx, deskWindows*3), used.use(ctx, changes)); err != nil {
		return err
	}
	for _, q := range deskQuestions {
		row.Case = q.name
		timed := func(m *machine) sample {
			return func(ctx context.Context) (float64, error) {
				if err := change(m.file(deskFile)); err != nil {
					return 0, err
				}
				began := time.Now()
				err := q.ask(ctx, m)
				return millis(time.Since(began)), err
			}
		}
		r, err := turns{n: l.count(200), warmup: 10, ours: timed(used), peer: timed(empty)}.measure(ctx, row)
		if err != nil {
			return err
		}
		emit(r)
	}
	return nil
}

// deskFile is written before every sample.
const deskFile = "d000/e00/file07.go"

// getChanged reads a file that changed since the last snapshot.
func (m *machine) getChanged(ctx context.Context) error {
	_, content, err := m.c.Workspace().OpenFile(ctx, "workspace/"+project+"/"+deskFile)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, content)
	return errors.Join(err, content.Close())
}

// use makes a third of n changes of windows, settings and documents each. How many
// of them there are in the end does not depend on n.
func (m *machine) use(ctx context.Context, n int) error {
	var drafts []choir.Draft
	for i := range n {
		payload := deskChange(m.c.ID(), i)
		d, err := choir.NewDraft(choir.DeriveID(m.c.ID(), "use", fmt.Sprint(i)), payload)
		if err != nil {
			return err
		}
		if drafts = append(drafts, d); len(drafts) == 500 || i == n-1 {
			if _, err := m.c.Store().Append(ctx, choir.RoleShell, drafts...); err != nil {
				return err
			}
			drafts = drafts[:0]
		}
	}
	return nil
}

// deskChange is the i-th change; the first ones open and create.
func deskChange(computer choir.ID, i int) choir.Payload {
	which, round := i/3%deskWindows, i/3/deskWindows
	id := choir.DeriveID(computer, "used", fmt.Sprint(which))
	bounds := choir.Rect{X: round % 500, Y: which, Width: 640, Height: 480}
	switch {
	case i%3 == 0:
		return choir.SettingChanged{Key: fmt.Sprint("key ", which), Value: fmt.Sprint(round)}
	case i%3 == 1 && round == 0:
		return choir.WindowOpened{Window: id, App: "files", Title: "A window", Bounds: bounds}
	case i%3 == 1:
		return choir.WindowMoved{Window: id, Bounds: bounds}
	case round == 0:
		return choir.DocumentCreated{Document: id, Title: "A document", Content: "# A document\n"}
	}
	return choir.DocumentVersioned{Document: id, Version: round, Content: fmt.Sprintf("# A document\n\nline %d\n", round)}
}

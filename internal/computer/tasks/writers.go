package tasks

import (
	"context"
	"iter"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// EventLog is a computer's log; eventstore.Store is one.
type EventLog interface {
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
}

// WrittenByOwner lists the paths that the owner wrote while an answered task worked, and
// the task did not.
func WrittenByOwner(ctx context.Context, log EventLog, t *eventstore.Task) ([]string, error) {
	w := newWriters()
	err := w.read(log.Events(ctx, t.StartedSeq+1, t.ReturnedSeq), t.ID)
	return w.onlyOwner(), err
}

// writers are who wrote what since a task began.
type writers struct {
	owner map[string]choir.Digest // paths, and the snapshot in which each is as the owner left it
	task  map[string]bool
}

func newWriters() writers {
	return writers{owner: map[string]choir.Digest{}, task: map[string]bool{}}
}

// conflicts are the paths that both wrote, and those the plan found besides.
func (w writers) conflicts(planned []string) []string {
	both := slices.Clone(planned)
	for path := range w.owner {
		if w.task[path] {
			both = append(both, path)
		}
	}
	slices.Sort(both)
	return slices.Compact(both)
}

// onlyOwner are the paths that the owner wrote and the task did not.
func (w writers) onlyOwner() []string {
	var paths []string
	for path := range w.owner {
		if !w.task[path] {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// read adds what events say of a task and of the owner.
func (w *writers) read(events iter.Seq2[choir.Event, error], task choir.ID) error {
	for e, err := range events {
		if err == nil {
			err = w.note(&e, task)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// note adds what one event says.
func (w *writers) note(e *choir.Event, task choir.ID) error {
	owner := e.Source == choir.SourceUser || e.Source == choir.SourceDesktop
	if e.Type != choir.TypeFileWritten && e.Type != choir.TypeFileRemoved || !owner && e.Task != task {
		return nil
	}
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return err
	}
	var paths []string
	var in choir.Digest
	switch p := p.(type) {
	case *choir.FileWritten:
		in = p.Snapshot
		for _, f := range p.Files {
			paths = append(paths, f.Path)
		}
	case *choir.FileRemoved:
		in, paths = p.Snapshot, p.Paths
	}
	for _, path := range paths {
		if owner {
			w.owner[path] = in
		} else {
			w.task[path] = true
		}
	}
	return nil
}

package tasks

import (
	"context"
	"iter"
	"maps"
	"slices"

	"choiros/internal/choir"
)

// EventLog yields the events of a computer's log; eventstore.Store implements it.
type EventLog interface {
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
}

// WrittenByOthers returns the paths, sorted, that the owner or other tasks but not the task
// wrote between two events.
func WrittenByOthers(ctx context.Context, log EventLog, task choir.ID, from, to uint64) ([]string, error) {
	w := newWriters()
	err := w.read(log.Events(ctx, from+1, to), task)
	return w.notTask(maps.Keys(w.owner), maps.Keys(w.others)), err
}

// writers records who wrote which paths since a task began.
type writers struct {
	owner  map[string]choir.Digest // paths that the owner wrote, with the snapshot that has the owner's version
	task   map[string]bool         // paths that the task wrote
	others map[string]bool         // paths that other tasks wrote
}

func newWriters() writers {
	return writers{owner: map[string]choir.Digest{}, task: map[string]bool{}, others: map[string]bool{}}
}

// conflicts returns the paths that both wrote, and those in planned, sorted.
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

// onlyOwner returns the paths that the owner wrote and the task did not, sorted.
func (w writers) onlyOwner() []string { return w.notTask(maps.Keys(w.owner)) }

// notTask returns the paths that the task did not write, sorted, each once.
func (w writers) notTask(sets ...iter.Seq[string]) []string {
	var paths []string
	for _, set := range sets {
		for path := range set {
			if !w.task[path] {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// read adds the paths written by the events of a task, of the owner and of other tasks.
func (w *writers) read(events iter.Seq2[choir.Event, error], task choir.ID) error {
	for e, err := range events {
		if err == nil {
			err = w.addEvent(&e, task)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addEvent adds the paths that one event wrote, if it is the owner's or a task's.
func (w *writers) addEvent(e *choir.Event, task choir.ID) error {
	owner := e.Source == choir.SourceUser || e.Source == choir.SourceDesktop
	if e.Type != choir.TypeFileWritten && e.Type != choir.TypeFileRemoved || !owner && e.Task == "" {
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
		switch {
		case owner:
			w.owner[path] = in
		case e.Task == task:
			w.task[path] = true
		default:
			w.others[path] = true
		}
	}
	return nil
}

package eventstore

import (
	"context"
	"slices"

	"choiros/internal/choir"
)

// RunAsOf returns a run and its tasks as they were after event asOf, computed from the
// run's events by the reducers of the projections. Code not_found: the run had not
// begun.
func (s *Store) RunAsOf(ctx context.Context, id choir.ID, asOf uint64) (Run, []Task, error) {
	v := newView(emptyBase{}, watch{})
	last := uint64(0)
	for e, err := range s.EventsOfRun(ctx, id, 0) {
		if err != nil {
			return Run{}, nil, err
		}
		if e.Seq > asOf {
			break
		}
		last = e.Seq
		if err := v.reduce(&e, nil); err != nil {
			return Run{}, nil, err
		}
	}
	run, tasks, err := runOf(v, id, last)
	if choir.CodeOf(err) == choir.CodeNotFound && lags(ctx) {
		return s.RunAsOf(MustNotLag(ctx), id, asOf) // the newest events may have it
	}
	return run, tasks, err
}

// runOf reads a run and its tasks from a view that contains only the run's events.
func runOf(v *view, id choir.ID, last uint64) (Run, []Task, error) {
	run, ok, err := runsTable.of(v).get(id)
	if err == nil && !ok {
		err = notFound("run", string(id))
	}
	if err != nil {
		return Run{}, nil, err
	}
	run.LastSeq = last
	if run.Usage, _, err = usageTable.of(v).get(id); err != nil {
		return Run{}, nil, err
	}
	tasks := []Task{}
	for _, c := range tasksTable.of(v).live {
		if c.exists {
			tasks = append(tasks, c.value)
		}
	}
	slices.SortFunc(tasks, func(a, b Task) int { return int(a.DispatchedSeq) - int(b.DispatchedSeq) })
	return run, tasks, nil
}

// emptyBase is the state of all projections before the first event.
type emptyBase struct{}

func (emptyBase) value(*projection, string) (string, bool, error)        { return "", false, nil }
func (emptyBase) open(*projection, string) (uint64, string, bool, error) { return 0, "", false, nil }
func (emptyBase) document(string, int) (Document, error)                 { return Document{}, nil }
func (emptyBase) changed(*projection, uint64) ([]change, error)          { return nil, nil }
func (emptyBase) write(map[*projection][]row) error                      { return nil }

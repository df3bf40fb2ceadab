package eventstore

import (
	"context"
	"slices"

	"choiros/internal/choir"
)

// RunAsOf is a run and its tasks as they were after an event, made from the run's
// events by the reducers that make the present; code not_found when it had not
// begun.
func (s *Store) RunAsOf(ctx context.Context, id choir.ID, asOf uint64) (Run, []Task, error) {
	v := newView(nothing{}, watch{})
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
	return runOf(v, id, last)
}

// runOf reads a run out of a view of its events alone.
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

// nothing is what was there before the first event.
type nothing struct{}

func (nothing) value(*projection, string) (string, bool, error)        { return "", false, nil }
func (nothing) open(*projection, string) (uint64, string, bool, error) { return 0, "", false, nil }
func (nothing) document(string, int) (Document, error)                 { return Document{}, nil }
func (nothing) changed(*projection, uint64) ([]change, error)          { return nil, nil }
func (nothing) write(map[*projection][]row) error                      { return nil }

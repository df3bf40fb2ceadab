package rolehost

import (
	"context"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

// maxProjects limits the projects in a boot line.
const maxProjects = 1000

// directorStart returns where a starting Director begins to read the log: before the oldest
// open run. With more than maxProjects projects it is the log's beginning.
func (h *Host) directorStart(ctx context.Context) (bus.Start, error) {
	after, _ := h.log.Head() // before the runs are read: a newer one comes later
	runs, err := h.log.OpenRuns(ctx)
	if err != nil {
		return bus.Start{}, err
	}
	for _, r := range runs {
		after = min(after, r.FirstSeq-1)
	}
	projects, err := h.log.Projects(ctx, after)
	if err != nil || len(projects) > maxProjects {
		return bus.Start{}, err
	}
	return bus.Start{After: after, Projects: projects}, nil
}

// maxBegun limits the begun tasks in a boot line. There are as many as tasks at work.
const maxBegun = 1000

// associateStart returns where a starting Associate begins to read the log: before the
// oldest task without an answer. It lists the tasks that a former process began.
func (h *Host) associateStart(ctx context.Context) (bus.Start, error) {
	after, _ := h.log.Head() // before the tasks are read: a newer one comes later
	tasks, err := h.log.OpenTasks(ctx)
	var begun []choir.ID
	for _, t := range tasks {
		after = min(after, t.DispatchedSeq-1)
		if t.Attempt > 0 && len(begun) < maxBegun {
			begun = append(begun, t.ID)
		}
	}
	return bus.Start{After: after, Begun: begun}, err
}

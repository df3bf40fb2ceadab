package rolehost

import (
	"context"

	"choiros/internal/bus"
)

// maxProjects bounds the projects that are named on a boot line.
const maxProjects = 1000

// directorStart is where a Director that starts now begins to read the log:
// before the oldest run that is not over, so that its start does not take
// longer with every run that was. With more projects than a boot line holds it
// reads everything.
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

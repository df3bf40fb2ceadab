package taskrunner

import (
	"context"

	"choiros/internal/choir"
)

// hearSteering returns what people added to the run that the next model call is the first
// to say. The control plane decides which that is and has it in the log, so that a task that
// is begun again makes the same requests.
func (j *job) hearSteering(ctx context.Context) ([]string, error) {
	reply, err := j.cfg.Tree.Steering(ctx, j.event.Task, j.models+1)
	if err != nil {
		return nil, err
	}
	var texts []string
	if j.notice != "" {
		texts, j.notice = append(texts, j.notice), ""
	}
	for _, a := range reply.Added {
		if j.heard[a.Steering] {
			continue // told when the model was done, before this call
		}
		if j.heard == nil {
			j.heard = map[choir.ID]bool{}
		}
		j.heard[a.Steering] = true
		texts = append(texts, "While you work, the user adds the following. Follow it as far as it is about your task; the Director is told too.\n\n"+a.Text)
	}
	return texts, nil
}

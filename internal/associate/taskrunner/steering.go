package taskrunner

import (
	"context"

	"choiros/internal/choir"
)

// hearSteering returns what people added to the run that the next model call is the first
// to say. The control plane decides which that is and has it in the log, so that a task that
// is begun again makes the same requests.
func (d *dialogue) hearSteering(ctx context.Context) ([]string, error) {
	reply, err := d.steering.Steering(ctx, d.rec.event.Task, d.made+1)
	if err != nil {
		return nil, err
	}
	var texts []string
	if d.notice != "" {
		texts, d.notice = append(texts, d.notice), ""
	}
	for _, a := range reply.Added {
		if d.heard[a.Steering] {
			continue // told when the model was done, before this call
		}
		if d.heard == nil {
			d.heard = map[choir.ID]bool{}
		}
		d.heard[a.Steering] = true
		texts = append(texts, "While you work, the user adds the following. Follow it as far as it is about your task; the Director is told too.\n\n"+a.Text)
	}
	return texts, nil
}

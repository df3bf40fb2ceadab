package dispatch

import (
	"context"
	"strconv"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// RecordSteering returns what people added to the run of a task that belongs into the
// request of the task's model call with a number, and appends task.steered for what is new.
// Asked again about a call it returns the same, and what came meanwhile unless the call was
// made. Code conflict: the task has been answered.
func (ts *Tasks) RecordSteering(ctx context.Context, task choir.ID, call int) (choir.TaskSteeringReply, error) {
	reply := choir.TaskSteeringReply{Added: []choir.Addition{}}
	t, err := ts.log.Task(ctx, task)
	if err == nil && t.Result != nil {
		err = choir.E("computer.steering", choir.CodeConflict, "task %s has been answered already", task)
	}
	if err != nil {
		return reply, err
	}
	s, err := ts.readSteering(ctx, t, choir.DeriveID(task, "model", strconv.Itoa(call)))
	if err != nil {
		return reply, err
	}
	var drafts []choir.Draft
	for _, a := range s.added {
		at, heard := s.heard[a.Steering]
		if heard && at != call || !heard && s.made {
			continue
		}
		reply.Added = append(reply.Added, a)
		if heard {
			continue
		}
		d, err := choir.NewDraft(choir.DeriveID(task, "steered", string(a.Steering)), choir.TaskSteered{Steering: a.Steering, Call: call})
		if err != nil {
			return reply, err
		}
		drafts = append(drafts, d.ForRun(t.Run, task).CausedBy(a.Steering))
	}
	if len(drafts) == 0 {
		return reply, nil
	}
	_, err = ts.events.AppendAs(ctx, choir.RoleControl, drafts...)
	return reply, appender.UnlessSaid(err, choir.RoleControl, choir.TypeTaskSteered)
}

// steering holds what people added to a run, as a task of it hears it.
type steering struct {
	added []choir.Addition // what the task has to hear, oldest first
	heard map[choir.ID]int // number of the model call that said it first
	made  bool             // the model call that was asked about
}

// readSteering reads what the log has of steering for a task: what people added since the
// Director was asked that then dispatched the task, because the Director did not know of it.
// call is the id of a model call of the task.
func (ts *Tasks) readSteering(ctx context.Context, t eventstore.Task, call choir.ID) (steering, error) {
	s := steering{heard: map[choir.ID]int{}}
	for e, err := range ts.log.EventsOfRunOf(ctx, t.Run, choir.TypeSteeringSubmitted, choir.TypeTaskSteered, choir.TypeModelCalled) {
		if err != nil {
			return s, err
		}
		p, err := choir.ReadPayload(e.Type, e.Payload)
		if err != nil {
			return s, err
		}
		switch p := p.(type) {
		case *choir.SteeringSubmitted:
			s.added = append(s.added, choir.Addition{Steering: e.ID, Text: p.Text})
		case *choir.TaskSteered:
			if e.Task == t.ID {
				s.heard[p.Steering] = p.Call
			}
		case *choir.ModelCalled:
			if e.Task == "" && e.Seq < t.DispatchedSeq {
				s.added = nil
			}
			s.made = s.made || p.Call == call
		}
	}
	return s, nil
}

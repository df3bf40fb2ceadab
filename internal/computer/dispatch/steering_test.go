package dispatch

import (
	"slices"
	"strconv"
	"testing"

	"choiros/internal/choir"
)

// steer adds to a task's run, as a person does, and returns the event's id.
func (l *lab) steer(run choir.ID, text string) choir.ID {
	l.t.Helper()
	d := must(choir.NewDraft(newID(l.t), choir.SteeringSubmitted{Text: text}))(l.t)
	must(l.log.Append(l.within(), choir.RoleCLI, d.ForRun(run, "")))(l.t)
	return d.ID
}

// called records a model call: of the task, or of the run's Director without one.
func (l *lab) called(run, task choir.ID, call int) {
	l.t.Helper()
	p := choir.ModelCalled{Call: newID(l.t), Caller: "director", Provider: "p", Model: "m", Request: choir.ZeroHash}
	if task != "" {
		p.Call, p.Caller = choir.DeriveID(task, "model", strconv.Itoa(call)), "associate"
	}
	l.append(choir.RoleControl, run, task, p)
}

// hears are the texts that a model call of a task is told.
func (l *lab) hears(task choir.ID, call int) (texts []string) {
	l.t.Helper()
	reply := must(l.RecordSteering(l.within(), task, call))(l.t)
	for _, a := range reply.Added {
		texts = append(texts, a.Text)
	}
	return texts
}

// TestATaskHearsWhatIsAddedOnce: at its next call, the same again for the same call, and
// nothing for a call that was made without it.
func TestATaskHearsWhatIsAddedOnce(t *testing.T) {
	l := newLab(t)
	task := l.submit()
	l.startTask(task)
	if got := l.hears(task.TaskID, 1); got != nil {
		t.Errorf("the first call is told %q", got)
	}
	l.called(task.RunID, task.TaskID, 1)
	first := l.steer(task.RunID, "one")
	l.steer(newID(t), "another run's")
	if got := l.hears(task.TaskID, 1); got != nil {
		t.Errorf("the call that was made is told %q", got)
	}
	if got := l.hears(task.TaskID, 2); !slices.Equal(got, []string{"one"}) {
		t.Errorf("the second call is told %q", got)
	}
	l.steer(task.RunID, "two")
	if got := l.hears(task.TaskID, 2); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("the second call, before it is made, is told %q", got)
	}
	l.called(task.RunID, task.TaskID, 2)
	l.steer(task.RunID, "three")
	if got := l.hears(task.TaskID, 2); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("the second call, asked about again, is told %q", got)
	}
	if got := l.hears(task.TaskID, 3); !slices.Equal(got, []string{"three"}) {
		t.Errorf("the third call is told %q", got)
	}
	var said []choir.TaskSteered
	for e, err := range l.log.EventsOfRunOf(l.within(), task.RunID, choir.TypeTaskSteered) {
		var p choir.TaskSteered
		if err != nil || choir.DecodeDurable(e.Payload, &p) != nil || e.Task != task.TaskID || e.Source != choir.SourceSystem {
			t.Fatalf("%+v: %v", e, err)
		}
		said = append(said, p)
	}
	if len(said) != 3 || said[0] != (choir.TaskSteered{Steering: first, Call: 2}) {
		t.Errorf("the log says %+v", said)
	}
	l.answer(task)
	if _, err := l.RecordSteering(l.within(), task.TaskID, 4); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("an answered task hears: %v", err)
	}
}

// TestATaskHearsWhatItsDirectorDidNotKnow: what came after the Director was asked that then
// dispatched the task, and nothing older.
func TestATaskHearsWhatItsDirectorDidNotKnow(t *testing.T) {
	l := newLab(t)
	run := newID(t)
	l.steer(run, "the Director knows it")
	l.called(run, "", 0)
	l.steer(run, "while it thinks")
	task := must(l.NewTask(choir.DirectorTask{RunID: run, Kind: choir.TaskRun, Instruction: "x"}))(t)
	must(l.Submit(l.within(), choir.RoleCLI, task))(t)
	l.called(run, "", 0)
	l.steer(run, "at work")
	if got := l.hears(task.TaskID, 1); !slices.Equal(got, []string{"while it thinks", "at work"}) {
		t.Errorf("it is told %q", got)
	}
}

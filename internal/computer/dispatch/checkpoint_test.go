package dispatch

import (
	"testing"
	"time"

	"choiros/internal/choir"
)

// asked waits for the task that asks for a checkpoint, and returns it with its event.
func (l *lab) asked() (choir.DirectorTask, choir.Event) {
	l.t.Helper()
	for e, err := range l.log.Follow(l.within(), 0) {
		if err != nil {
			l.t.Fatalf("no checkpoint is asked for: %v", err)
		}
		if e.Type != choir.TypeTaskDispatched {
			continue
		}
		var p choir.TaskDispatched
		if err := choir.DecodeDurable(e.Payload, &p); err != nil {
			l.t.Fatal(err)
		}
		if p.Task.GitAction == choir.GitCheckpoint {
			return p.Task, e
		}
	}
	panic("Follow ended without an error")
}

// wrote appends that a file was written.
func (l *lab) wrote() {
	l.t.Helper()
	l.append(choir.RoleShell, "", "", choir.FileWritten{
		Files: []choir.FileState{{Path: "x", Kind: "file", Digest: choir.ZeroHash}}, Snapshot: choir.ZeroHash,
	})
}

func TestACheckpointIsMadeAfterSoManyTasksOrSoLong(t *testing.T) {
	for trigger, limits := range map[string]AutoCheckpoint{
		"count": {Tasks: 2, Every: time.Hour}, "time": {Tasks: 1000, Every: 20 * time.Millisecond},
	} {
		t.Run(trigger, func(t *testing.T) {
			l := newLab(t, func(c *Config) { c.AutoCheckpoint = limits })
			l.serve()
			for range 2 {
				l.answer(l.submit())
			}
			l.wrote()
			task, e := l.asked()
			if task.Trigger != trigger || e.Source != choir.SourceSystem {
				t.Errorf("it was asked for by %q: %+v", e.Source, task)
			}
			l.answer(task)
		})
	}
}

func TestNoCheckpointIsMadeWhileATaskWorks(t *testing.T) {
	l := newLab(t, func(c *Config) { c.AutoCheckpoint = AutoCheckpoint{Tasks: 1000, Every: 5 * time.Millisecond} })
	working := l.submit()
	l.wrote()
	l.serve()
	timer := time.NewTimer(50 * time.Millisecond) // the clock goes on meanwhile
	<-timer.C
	l.answer(working)
	task, e := l.asked()
	answered := must(l.log.First(l.within(), choir.TypeTaskReturned, string(working.TaskID)))(t)
	if e.Seq < answered.Seq {
		t.Error("a checkpoint was asked for beside a task")
	}
	l.answer(task)
}

func TestACheckpointByHandHasItsWords(t *testing.T) {
	l := newLab(t)
	l.serve()
	made := make(chan error, 1)
	go func() {
		_, err := l.Checkpoint(l.within(), choir.RoleShell, "hello", "as it is")
		made <- err
	}()
	task, e := l.asked()
	if task.Repo != "hello" || len(task.GitArgs) != 1 || task.GitArgs[0] != "as it is" || e.Source != choir.SourceUser {
		t.Errorf("by %q: %+v", e.Source, task)
	}
	l.answer(task)
	if err := <-made; err != nil {
		t.Error(err)
	}
}

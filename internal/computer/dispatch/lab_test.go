package dispatch

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/thejerf/suture/v4"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// patience bounds every wait of these tests.
const patience = 60 * time.Second

// lab is the tasks of a computer that is only a log. Its services do not run before
// serve.
type lab struct {
	*Tasks
	t      *testing.T
	log    *eventstore.Store
	events *appender.Appender
	back   *stubWorkspace
}

func newLab(t *testing.T, change ...func(*Config)) *lab {
	t.Helper()
	t.Parallel()
	log := must(eventstore.Open(t.Context(), t.TempDir(), eventstore.Config{
		Computer: newID(t), User: newID(t), Now: func() choir.Time { return choir.TimeOf(time.Now()) },
	}))(t)
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	l := &lab{t: t, log: log, back: &stubWorkspace{log: log}}
	l.events = appender.New(log, newID(t), madeID, slog.New(slog.DiscardHandler))
	cfg := Config{
		Computer: newID(t), Now: time.Now, Log: slog.New(slog.DiscardHandler), Retry: 10 * time.Millisecond,
	}
	for _, c := range change {
		c(&cfg)
	}
	l.Tasks = New(log, l.events, l.back, cfg)
	return l
}

// serve runs the services until the test ends.
func (l *lab) serve() {
	sup := suture.New("lab", suture.Spec{EventHook: func(suture.Event) {}, Timeout: patience})
	for _, s := range l.Services() {
		sup.Add(s)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(l.t.Context()))
	ended := sup.ServeBackground(ctx)
	l.t.Cleanup(func() {
		cancel()
		<-ended
	})
}

func madeID() (choir.ID, error) { return choir.NewID(choir.TimeOf(time.Now()), rand.Reader) }

func newID(t testing.TB) choir.ID {
	t.Helper()
	return must(madeID())(t)
}

// within is a context that ends with the test's patience.
func (l *lab) within() context.Context {
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	l.t.Cleanup(cancel)
	return ctx
}

// append appends one event of a run and a task.
func (l *lab) append(role choir.Role, run, task choir.ID, p choir.Payload) {
	l.t.Helper()
	d := must(choir.NewDraft(newID(l.t), p))(l.t)
	must(l.log.Append(l.within(), role, d.ForRun(run, task)))(l.t)
}

// submit dispatches a task of a run of its own.
func (l *lab) submit() choir.DirectorTask {
	l.t.Helper()
	task := must(l.NewTask(choir.DirectorTask{Kind: choir.TaskRun, Instruction: "x"}))(l.t)
	must(l.Submit(l.within(), choir.RoleCLI, task))(l.t)
	return task
}

// startTask takes a task up, as the Associate does.
func (l *lab) startTask(task choir.DirectorTask) {
	l.t.Helper()
	l.append(choir.RoleControl, task.RunID, task.TaskID, choir.TaskStarted{Base: choir.ZeroHash, Attempt: 1})
}

// answer answers a task, as the Associate does.
func (l *lab) answer(task choir.DirectorTask) {
	l.t.Helper()
	l.append(choir.RoleAssociate, task.RunID, task.TaskID, choir.TaskReturned{Result: choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: task.TaskID, RunID: task.RunID, Status: choir.StatusOK, Summary: "done",
		FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
		Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
	}})
}

// cancel stops a task's run, as a person does.
func (l *lab) cancel(task choir.DirectorTask) {
	l.t.Helper()
	l.append(choir.RoleCLI, task.RunID, "", choir.RunCancelRequested{Reason: "enough"})
}

// cancelled waits until the Associate is asked to end a task, and returns why.
func (l *lab) cancelled(task choir.DirectorTask) string {
	l.t.Helper()
	for e, err := range l.log.Follow(l.within(), 0) {
		if err != nil {
			l.t.Fatalf("the Associate is not asked to end task %s: %v", task.TaskID, err)
		}
		if e.Type != choir.TypeTaskCancelRequested || e.Task != task.TaskID {
			continue
		}
		var p choir.TaskCancelRequested
		if err := choir.DecodeDurable(e.Payload, &p); err != nil || e.Source != choir.SourceSystem || e.Run != task.RunID {
			l.t.Errorf("%+v: %v", e, err)
		}
		return p.Reason
	}
	panic("Follow ended without an error")
}

// stubWorkspace counts the tasks that are taken back. Its first answers may be errors.
type stubWorkspace struct {
	log *eventstore.Store

	held func(choir.ID) // holds a task's result before it is taken back; nil for none

	mu    sync.Mutex // guards what follows
	fails int
	tasks []choir.ID
}

// TakeBack implements Workspace.
func (w *stubWorkspace) TakeBack(_ context.Context, task choir.ID, answer func(choir.TaskRollbackReply) error) error {
	if w.noteTaken(task) {
		return choir.E("x", choir.CodeUnavailable, "the sandbox does not run")
	}
	if w.held != nil {
		w.held(task)
		return choir.Refuse("x", choir.ReasonEffectHeld)
	}
	return answer(choir.TaskRollbackReply{Conflicts: []string{"both"}})
}

// noteTaken notes a task that is to be taken back, and returns whether that fails.
func (w *stubWorkspace) noteTaken(task choir.ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks = append(w.tasks, task)
	w.fails--
	return w.fails >= 0
}

// IfUnbegun implements Workspace.
func (w *stubWorkspace) IfUnbegun(ctx context.Context, task choir.ID, do func() error) (bool, error) {
	t, err := w.log.Task(ctx, task)
	if err != nil || t.Base != "" && !t.Waits() || t.Result != nil {
		return false, err
	}
	return true, do()
}

// taken are the tasks that were to be taken back, once for each time.
func (w *stubWorkspace) taken() []choir.ID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.tasks)
}

// must ends the test at an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

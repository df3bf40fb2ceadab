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

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// patience bounds every wait of these tests.
const patience = 20 * time.Second

// lab is the tasks of a computer that is only a log. Its services do not run before
// serve.
type lab struct {
	*Tasks
	t      *testing.T
	log    *eventstore.Store
	events *appender.Appender
	post   *stubPost
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
	l := &lab{t: t, log: log, post: &stubPost{sent: make(chan delivery, 1000)}, back: &stubWorkspace{}}
	l.events = appender.New(log, newID(t), madeID, slog.New(slog.DiscardHandler))
	cfg := Config{
		Computer: newID(t), OpenPost: func() (Post, error) { return l.post, nil },
		Now: time.Now, Log: slog.New(slog.DiscardHandler), Resend: 10 * time.Millisecond,
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

// delivery is one delivery to a role.
type delivery struct {
	role choir.Role
	kind bus.DeliveryKind
	id   choir.ID // of the task, else of the run
}

// heard waits for a delivery, and returns those before it.
func (l *lab) heard(want delivery) (before []delivery) {
	l.t.Helper()
	ctx := l.within()
	for {
		select {
		case got := <-l.post.sent:
			if got == want {
				return before
			}
			before = append(before, got)
		case <-ctx.Done():
			l.t.Fatalf("%+v is not delivered; delivered are %+v", want, before)
		}
	}
}

// heardOnly is heard that fails the test when a task was delivered before.
func (l *lab) heardOnly(want delivery, never choir.ID) {
	l.t.Helper()
	if before := l.heard(want); slices.ContainsFunc(before, func(d delivery) bool { return d.id == never }) {
		l.t.Errorf("before %+v there was %+v", want, before)
	}
}

func toAssociate(kind bus.DeliveryKind, task choir.DirectorTask) delivery {
	return delivery{choir.RoleAssociate, kind, task.TaskID}
}

// stubPost keeps what is delivered. Its first deliveries may fail.
type stubPost struct {
	sent chan delivery

	mu    sync.Mutex // guards fails
	fails int
}

// Deliver implements Post.
func (p *stubPost) Deliver(role choir.Role, d bus.Delivery) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails > 0 {
		p.fails--
		return choir.E("x", choir.CodeUnavailable, "nobody listens")
	}
	if err := d.Check(); err != nil {
		return err
	}
	got := delivery{role, d.Kind, d.Task}
	if d.Task == "" {
		got.id = d.Run
	}
	select {
	case p.sent <- got:
	default: // more than a test reads
	}
	return nil
}

// Close implements Post.
func (p *stubPost) Close() {}

// stubWorkspace counts the tasks that are taken back. Its first answers may be errors.
type stubWorkspace struct {
	mu    sync.Mutex // guards what follows
	fails int
	tasks []choir.ID
}

// TakeBack implements Workspace.
func (w *stubWorkspace) TakeBack(_ context.Context, task choir.ID) (choir.TaskRollbackReply, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks = append(w.tasks, task)
	if w.fails > 0 {
		w.fails--
		return choir.TaskRollbackReply{}, choir.E("x", choir.CodeUnavailable, "the sandbox does not run")
	}
	return choir.TaskRollbackReply{Conflicts: []string{"both"}}, nil
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

package taskrunner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"choiros/internal/associate/git"
	"choiros/internal/associate/proctree"
	"choiros/internal/associate/taskrunner"
	"choiros/internal/choir"
	"choiros/internal/model"
	"choiros/internal/snapshot"
)

// The test binary is also the tree process: it is started again with "tree".
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "tree" {
		if err := proctree.Serve(os.NewFile(3, "owner"), os.Args[2], os.Args[3:]...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

const run = choir.ID("01890000-0000-7000-8000-000000000001")

// lab is a workspace with real files, git and processes, and the control
// plane's side of the verbs built on the real snapshots.
type lab struct {
	testing.TB
	dir    string
	env    []string
	log    *log
	tree   *control
	screen *screen
	model  *script
	runner *taskrunner.Runner
	clock  choir.Time
	tasks  int
	copies string // folder of the worktrees
}

func newLab(t testing.TB) *lab {
	t.Helper()
	l := &lab{TB: t, dir: t.TempDir(), clock: 1_700_000_000_000, screen: &screen{}, model: &script{}, copies: filepath.Join(t.TempDir(), "worktrees")}
	home := os.Getenv("HOME")
	l.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8", "RUSTUP_HOME=" + filepath.Join(home, ".rustup"), "GORACE=" + os.Getenv("GORACE")}
	objects := &store{held: map[choir.Digest][]byte{}}
	l.log = &log{blobs: objects}
	l.tree = &control{dir: l.dir, store: objects, log: l.log, scan: snapshot.NewScanner(l.dir, snapshot.ScanConfig{}), base: map[choir.ID]choir.Digest{}, attempts: map[choir.ID]int{}}
	for _, d := range []string{"artifacts", "choiros", "workspace"} {
		l.mkdir(d)
	}
	l.start()
	return l
}

// start makes a runner, as after a restart of the process.
func (l *lab) start() {
	l.Helper()
	var now sync.Mutex
	r, err := taskrunner.New(taskrunner.Config{
		Log: l.log, Tree: l.tree, Models: l.model, Blobs: l.tree.store, Screen: l.screen,
		Live: func(_ choir.ID, text string) { l.log.live(text) },
		Now: func() choir.Time {
			now.Lock()
			defer now.Unlock()
			l.clock++
			return l.clock
		},
		Workspace: l.dir, Scratch: l.scratch(), Worktrees: l.copies, Env: l.env,
		Shared:   sharedFolders(l),
		TreeArgv: []string{os.Args[0], "tree"}, Lock: l.Name() + strconv.Itoa(os.Getpid()),
	})
	if err != nil {
		l.Fatal(err)
	}
	l.runner = r
	l.Cleanup(func() { r.Close() })
}

// scratch is a new folder for a runner, with the Go cache of whoever runs this
// test: the standard library is in there already.
func (l *lab) scratch() string {
	l.Helper()
	dir := l.TempDir()
	shared, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(filepath.Join(shared, "go-build"), 0o755)
	}
	for _, cache := range []string{"cache", "of/app/cache"} {
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, cache), 0o755)
		}
		if err == nil {
			err = os.Symlink(filepath.Join(shared, "go-build"), filepath.Join(dir, cache, "go-build"))
		}
	}
	if err != nil {
		l.Fatal(err)
	}
	return dir
}

// sharedFolders are what all projects' commands may write to: shared memory, and here
// the Go cache of whoever runs this test.
func sharedFolders(t testing.TB) []string {
	t.Helper()
	caches, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"/dev/shm", filepath.Join(caches, "go-build")}
}

func (l *lab) mkdir(name string) {
	l.Helper()
	if err := os.MkdirAll(filepath.Join(l.dir, name), 0o755); err != nil {
		l.Fatal(err)
	}
}

func (l *lab) write(name, content string) {
	l.Helper()
	l.mkdir(filepath.Dir(name))
	if err := os.WriteFile(filepath.Join(l.dir, name), []byte(content), 0o644); err != nil {
		l.Fatal(err)
	}
}

func (l *lab) read(name string) string {
	b, err := os.ReadFile(filepath.Join(l.dir, name))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(b)
}

func (l *lab) git(dir string, args ...string) string {
	l.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=P", "-c", "user.email=p@x", "-c", "init.defaultBranch=main", "-c", "gc.auto=0"}, args...)...)
	cmd.Dir = filepath.Join(l.dir, dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repo makes workspace/app a repository with the files, committed.
func (l *lab) repo(files map[string]string) {
	l.Helper()
	l.mkdir("workspace/app")
	for name, content := range files {
		l.write("workspace/app/"+name, content)
	}
	l.git("workspace/app", "init", "-q")
	l.git("workspace/app", "add", "-A")
	l.git("workspace/app", "commit", "-q", "--allow-empty", "-m", "base")
}

// hash is the exact state of the whole workspace.
func (l *lab) hash() choir.Digest {
	l.Helper()
	res, err := snapshot.NewScanner(l.dir, snapshot.ScanConfig{}).Scan(context.Background(), nil)
	if err != nil {
		l.Fatal(err)
	}
	return res.Root
}

func sh(lines ...string) []choir.Command {
	var out []choir.Command
	for _, line := range lines {
		out = append(out, choir.Command{Shell: line})
	}
	return out
}

// unverified is the profile of tests that are about something else.
var unverified = &choir.VerifyProfile{Mode: choir.VerifyNone}

// dispatch puts a task into the log.
func (l *lab) dispatch(task choir.DirectorTask) choir.Event {
	l.Helper()
	l.tasks++
	task.Version, task.RunID = 1, run
	task.TaskID = choir.DeriveID(run, "task", strconv.Itoa(l.tasks))
	if task.Instruction == "" {
		task.Instruction = "do it"
	}
	d, err := choir.NewDraft(choir.DeriveID(task.TaskID, "dispatched"), choir.TaskDispatched{Task: task})
	if err != nil {
		l.Fatal(err)
	}
	return l.log.add(d.ForRun(run, task.TaskID))
}

// do dispatches a task, runs it and returns its result.
func (l *lab) do(task choir.DirectorTask) choir.AssociateResult {
	l.Helper()
	return l.run(context.Background(), l.dispatch(task))
}

func (l *lab) run(work context.Context, ev choir.Event) choir.AssociateResult {
	l.Helper()
	if err := l.runner.Do(context.Background(), work, ev); err != nil {
		l.Fatal(err)
	}
	return l.log.result(l, ev.Task)
}

// log is a strict log in memory.
type log struct {
	blobs  *store
	mu     sync.Mutex // guards what follows
	events []choir.Event
	shown  strings.Builder
	onShow func(text string)
	fail   func(d choir.Draft) error
}

func (g *log) Append(_ context.Context, drafts ...choir.Draft) ([]choir.Receipt, error) {
	for _, d := range drafts {
		info, ok := choir.LookupType(d.Type)
		if !ok || !info.MayAppend(choir.RoleAssociate) {
			return nil, choir.E("log", choir.CodeForbidden, "the Associate may not append %s", d.Type)
		}
		if _, err := choir.DecodePayload(d.Type, d.Payload); err != nil {
			return nil, err
		}
		if len(d.Payload) > choir.InlineLimit || d.Run == "" || d.Task == "" {
			return nil, choir.E("log", choir.CodeTooLarge, "%s has %d bytes", d.Type, len(d.Payload))
		}
		if g.fail != nil {
			if err := g.fail(d); err != nil {
				return nil, err
			}
		}
	}
	for _, d := range drafts {
		g.add(d)
	}
	return nil, nil
}

func (g *log) add(d choir.Draft) choir.Event {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range g.events {
		if e.ID == d.ID {
			return e
		}
	}
	e := choir.Event{Seq: uint64(len(g.events) + 1), ID: d.ID, Type: d.Type, Run: d.Run, Task: d.Task, Cause: d.Cause, Payload: d.Payload}
	g.events = append(g.events, e)
	return e
}

func (g *log) Events(_ context.Context, from, to uint64) iter.Seq2[choir.Event, error] {
	return func(yield func(choir.Event, error) bool) {
		g.mu.Lock()
		events := slices.Clone(g.events)
		g.mu.Unlock()
		for _, e := range events {
			if e.Seq >= from && (to == 0 || e.Seq <= to) && !yield(e, nil) {
				return
			}
		}
	}
}

func (g *log) live(text string) {
	g.mu.Lock()
	g.shown.WriteString(text)
	hook := g.onShow
	g.mu.Unlock()
	if hook != nil {
		hook(text)
	}
}

// of are the payloads of one type for one task.
func of[P choir.Payload](t testing.TB, g *log, task choir.ID) []P {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	var zero P
	var out []P
	for _, e := range g.events {
		if e.Type == zero.EventType() && e.Task == task {
			var p P
			if err := json.Unmarshal(e.Payload, &p); err != nil {
				t.Fatal(err)
			}
			out = append(out, p)
		}
	}
	return out
}

func (g *log) result(t testing.TB, task choir.ID) choir.AssociateResult {
	t.Helper()
	got := of[choir.TaskReturned](t, g, task)
	if len(got) != 1 {
		t.Fatalf("the task has %d results", len(got))
	}
	return got[0].Result
}

// store is a blob store in memory.
type store struct {
	mu   sync.Mutex // guards held
	held map[choir.Digest][]byte
}

func (s *store) PutBlob(_ context.Context, content []byte) (choir.Digest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := choir.DigestOf(content)
	s.held[d] = bytes.Clone(content)
	return d, nil
}

func (s *store) GetBlob(_ context.Context, d choir.Digest) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.held[d]
	if !ok {
		return nil, choir.E("store", choir.CodeNotFound, "no blob %s", d)
	}
	return b, nil
}

func (s *store) Manifest(ctx context.Context, d choir.Digest) ([]byte, error) {
	return s.GetBlob(ctx, d)
}

func (s *store) Content(ctx context.Context, d choir.Digest) (io.ReadCloser, error) {
	b, err := s.GetBlob(ctx, d)
	return io.NopCloser(bytes.NewReader(b)), err
}

// control is the control plane's side of the verbs.
type control struct {
	cancelled choir.ID // a task that is to end
	store     *store
	log       *log
	scan      *snapshot.Scanner
	base      map[choir.ID]choir.Digest
	attempts  map[choir.ID]int
	// outOfMemory is how often the sandbox is said to have ended for its memory.
	outOfMemory int
	owner       []string // paths a person wrote meanwhile
	commits     []string
	only        []string // folders that the last commit said to look at
	dir         string
	steering    map[int][]choir.Addition // by model call
	goesOn      *choir.TaskPast          // what a task that is begun again goes on from
	restored    bool                     // what a restore scanned was not given to the store
	aside       bool                     // tasks are to begin in copies
	uncopied    int                      // tasks that could not
}

func (c *control) now(ctx context.Context, only ...string) (choir.Digest, error) {
	if c.restored {
		c.scan, c.restored = snapshot.NewScanner(c.dir, snapshot.ScanConfig{}), false
	}
	res, err := c.scan.ScanBelow(ctx, only, func(o snapshot.Object) error {
		r, err := o.Reader()
		if err != nil {
			return err
		}
		defer r.Close()
		b, err := io.ReadAll(r)
		if err == nil {
			_, err = c.store.PutBlob(ctx, b)
		}
		return err
	})
	return res.Root, err
}

func (c *control) BeginTask(ctx context.Context, task choir.ID, since choir.Digest) (reply choir.TaskBeginReply, err error) {
	if c.aside {
		base, err := c.now(ctx)
		return choir.TaskBeginReply{Base: base, Attempt: 1, Aside: true}, err
	}
	open := map[choir.ID]bool{}
	reply.Cancelled = task == c.cancelled
	for e := range c.log.Events(ctx, 1, 0) {
		switch {
		case e.Task != task:
		case e.Type == choir.TypeTaskDispatched:
			// The control plane of these tests lets nothing out.
			if strings.Contains(string(e.Payload), `"mode":"git+pkg"`) {
				reply.EgressWider = "git+pkg, and its policy is none"
			}
		case e.Type == "task.returned":
			return reply, choir.E("begin", choir.CodeConflict, "answered")
		case e.Type == "tool.called" || e.Type == "tool.returned":
			var p struct {
				Call choir.ID `json:"call"`
			}
			if err := json.Unmarshal(e.Payload, &p); err != nil {
				return reply, err
			}
			if open[p.Call] = e.Type == "tool.called"; open[p.Call] {
				reply.Calls++
			}
		}
	}
	for id, is := range open {
		if is {
			reply.UnfinishedCalls = append(reply.UnfinishedCalls, id)
		}
	}
	if base, ok := c.base[task]; ok {
		c.attempts[task]++
		reply.GoesOn, reply.OutOfMemory = c.goesOn, c.outOfMemory
		reply.Base, reply.Attempt, reply.Resumed = base, c.attempts[task], true
		return reply, nil
	}
	reply.Attempt = 1
	reply.Base, err = c.now(ctx)
	c.base[task], c.attempts[task] = reply.Base, 1
	if err == nil && since != "" {
		changes, derr := snapshot.Diff(ctx, c.store, since, reply.Base)
		for _, ch := range snapshot.FileChanges(changes) {
			for _, p := range []string{ch.From, ch.Path} {
				if p != "" && !git.Inside(p) {
					reply.Changed = append(reply.Changed, p)
				}
			}
		}
		reply.Compared = derr == nil
	}
	return reply, err
}

// BeginCopied has the task work in the project; worktrees are tested on a whole computer.
func (c *control) BeginCopied(ctx context.Context, task choir.ID) (choir.TaskBeginReply, error) {
	return c.BeginTask(ctx, task, "")
}

func (c *control) BeginUncopied(ctx context.Context, task choir.ID) (choir.TaskBeginReply, error) {
	c.aside = false
	c.uncopied++
	return c.BeginTask(ctx, task, "")
}

func (c *control) LandCommitted(context.Context, choir.ID) (choir.TaskLandReply, error) {
	return choir.TaskLandReply{}, choir.Invalid("task", "works in no copy")
}

func (c *control) Land(context.Context, choir.ID, []string) (choir.TaskLandReply, error) {
	return choir.TaskLandReply{}, choir.Invalid("task", "works in no worktree")
}

func (c *control) Changes(ctx context.Context, task choir.ID) (choir.TaskTreeReply, error) {
	now, err := c.now(ctx)
	if err != nil {
		return choir.TaskTreeReply{}, err
	}
	return choir.TaskTreeReply{Snapshot: now, Owner: c.owner}, nil
}

func (c *control) Rollback(ctx context.Context, task choir.ID, keep []string) (choir.TaskRollbackReply, error) {
	now, err := c.now(ctx)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	changes, err := snapshot.Diff(ctx, c.store, c.base[task], now)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	c.restored = true
	plan := snapshot.PlanRollback(changes, append(append([]string(nil), c.owner...), keep...), nil)
	res, err := c.scan.Restore(ctx, c.base[task], c.store, snapshot.RestoreOptions{Only: plan.Only()})
	return choir.TaskRollbackReply{Restored: res.Written + res.Removed, Conflicts: c.owner}, err
}

func (c *control) Commit(ctx context.Context, task choir.ID, reason string, only []string) (choir.TaskCommitReply, error) {
	c.commits, c.only = append(c.commits, reason), only
	now, err := c.now(ctx, only...)
	if err != nil {
		return choir.TaskCommitReply{}, err
	}
	// Whoever says that nothing else changed must be right.
	if all, err := c.now(ctx); err != nil || all != now {
		return choir.TaskCommitReply{}, choir.E("commit", choir.CodeInternal, "more changed than below %q: %v", only, err)
	}
	return choir.TaskCommitReply{Snapshot: now}, err
}

// RestoreAttempt restores what differs between the base and the attempt of the task that is
// named in the log.
func (c *control) RestoreAttempt(ctx context.Context, task choir.ID) (choir.TaskAttemptReply, error) {
	var from choir.ID
	var attempt choir.Digest
	for e := range c.log.Events(ctx, 1, 0) {
		var p struct {
			Task   choir.DirectorTask    `json:"task"`
			Result choir.AssociateResult `json:"result"`
		}
		if err := json.Unmarshal(e.Payload, &p); err == nil && e.Task == task && e.Type == "task.dispatched" {
			from = p.Task.FromAttempt
		}
	}
	for e := range c.log.Events(ctx, 1, 0) {
		var p choir.TaskReturned
		if err := json.Unmarshal(e.Payload, &p); err == nil && e.Task == from && e.Type == "task.returned" {
			attempt = p.Result.Attempt
		}
	}
	if attempt == "" {
		return choir.TaskAttemptReply{}, choir.Invalid("from_attempt", "task %s left no attempt", from)
	}
	changes, err := snapshot.Diff(ctx, c.store, c.base[from], attempt)
	if err != nil {
		return choir.TaskAttemptReply{}, err
	}
	c.restored = true
	plan := snapshot.PlanRollback(changes, nil, nil)
	_, err = c.scan.Restore(ctx, attempt, c.store, snapshot.RestoreOptions{Only: plan.Only()})
	return choir.TaskAttemptReply{}, err
}

// Steering answers from the field steering; what it answered of a call it answers again.
func (c *control) Steering(_ context.Context, _ choir.ID, call int) (choir.TaskSteeringReply, error) {
	return choir.TaskSteeringReply{Added: c.steering[call]}, nil
}

// script is a model that answers with its responses in order.
type script struct {
	responses []model.Response
	requests  []model.Request
	infos     []model.CallInfo
	err       error
	on        func(n int) // called with the number of each call, from 0, if not nil
	// byConversation answers by how far the conversation is, not by how often it was asked.
	byConversation bool
}

func (s *script) Call(ctx context.Context, info model.CallInfo, req model.Request, on func(model.Delta)) (model.Response, error) {
	s.requests, s.infos = append(s.requests, req), append(s.infos, info)
	n := len(s.requests) - 1
	if s.on != nil {
		s.on(n)
	}
	if s.byConversation {
		n = len(req.Messages) / 2
	}
	if n >= len(s.responses) {
		if s.err != nil {
			return model.Response{}, s.err
		}
		return model.Response{}, choir.E("script", choir.CodeProvider, "no more answers")
	}
	if on != nil {
		on(model.Delta{Text: "thinking"})
	}
	return s.responses[n], nil
}

// say is an answer with text; use adds a tool call to an answer.
func say(text string) model.Response {
	return model.Response{Model: "scripted", Stop: model.StopEnd, Usage: model.Usage{Input: 100, Output: 10, CacheRead: 50},
		Content: []model.Block{{Kind: model.Text, Text: text}}}
}

func use(tool, input string) model.Response {
	r := say("using " + tool)
	r.Stop = model.StopTool
	r.Content = append(r.Content, model.Block{Kind: model.ToolCall, CallID: "c1", Tool: tool, Input: json.RawMessage(input)})
	return r
}

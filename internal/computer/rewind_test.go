package computer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/projects"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
)

// say appends an event as a person.
func (l *lab) tell(p choir.Payload) choir.Receipt {
	l.t.Helper()
	return must(l.events.Append(l.within(), choir.RoleShell, p))(l.t)[0]
}

// intentPath is the file of the intent that is being carried out.
func (l *lab) intentPath() string { return filepath.Join(l.Computer.cfg.Dir, workspace.IntentFile) }

// treeHash is a hash over everything that exact means, made inside the sandbox by
// tools that share nothing with the product.
func (l *lab) treeHash() string {
	l.t.Helper()
	return l.sh(`LC_ALL=C find . -printf '%p %y %m %l %T@\n' | LC_ALL=C sort | sha256sum; LC_ALL=C find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum`)
}

func TestTheWholeComputerGoesBack(t *testing.T) {
	l := newLab(t)
	l.sh(`mkdir -p a/deep empty "$(printf 'odd\377name')" node/.git/objects ignored; echo one > a/deep/x; printf 'ignored/\n' > .gitignore; echo i > ignored/i
ln -s nowhere link; ln -s a dirlink; echo sh > run; chmod 4755 run; chmod 700 empty; echo ref > node/.git/HEAD; echo obj > node/.git/objects/x
echo low > Case; mkfifo pipe; echo f > turns; mkdir becomes; echo b > becomes/b; touch -d 1999-12-31T23:59:59.123456789 a/deep/x link -h`)
	win := []choir.ID{newTestID(t), newTestID(t)}
	l.tell(choir.WindowOpened{Window: win[0], App: "files", Title: "Files", Bounds: choir.Rect{X: 1, Y: 2, Width: 300, Height: 200}})
	l.tell(choir.WindowOpened{Window: win[1], App: "editor", Subject: "a/deep/x", Bounds: choir.Rect{Width: 10, Height: 10}, Desktop: 1})
	l.tell(choir.WindowShown{Window: win[1], State: choir.WindowMaximised})
	l.tell(choir.ThemeChanged{Name: "dark", Tokens: []choir.ThemeToken{{Name: "accent", Value: "#f00"}}})
	l.tell(choir.SettingChanged{Key: "dock", Value: "left"})
	if r := l.result(l.commands(choir.TaskEditRepo, "echo made > by-task")); r.Status != choir.StatusOK {
		t.Fatalf("%s %s", r.Code, r.Summary)
	}
	then, _ := l.store.Head()
	files, desktop := l.treeHash(), l.desktop()

	l.sh(`rm -rf a/deep empty .git ignored dirlink pipe odd*; chmod 644 run; ln -sfn else link; rm -rf node/.git; mv Case CASE
rm turns; mkdir turns; echo in > turns/in; rm -r becomes; echo file > becomes; echo new > new; mkdir -p n/e/w; printf x > "$(printf 'new\376')"`)
	l.tell(choir.WindowClosed{Window: win[0]})
	l.tell(choir.WindowMoved{Window: win[1], Bounds: choir.Rect{X: 9, Width: 9, Height: 9}})
	l.tell(choir.WindowOpened{Window: newTestID(t), App: "terminal", Bounds: choir.Rect{Width: 1, Height: 1}})
	l.tell(choir.ThemeChanged{Name: "light"})
	l.tell(choir.SettingChanged{Key: "dock"})
	l.tell(choir.SettingChanged{Key: "clock", Value: "24h"})
	changed, changedDesktop, facts := l.treeHash(), l.desktop(), l.facts()
	if changed == files || changedDesktop == desktop {
		t.Fatal("nothing was changed, so this shows nothing")
	}

	r := rewound(t, l, then)
	if got := l.treeHash(); got != files {
		t.Errorf("the tree is %s, it was %s", got, files)
	}
	if got := l.desktop(); got != desktop {
		t.Errorf("the desktop is\n%s\nit was\n%s", got, desktop)
	}
	if got := l.facts(); got != facts {
		t.Errorf("facts went back:\n%s\nthey were\n%s", got, facts)
	}
	// A rewind can be rewound, to what nobody had recorded before it too.
	rewound(t, l, r.Receipt.Seq-1)
	if got := l.treeHash(); got != changed {
		t.Errorf("rewound again the tree is %s, it was %s", got, changed)
	}
	if got := l.desktop(); got != changedDesktop {
		t.Errorf("rewound again the desktop is\n%s\nit was\n%s", got, changedDesktop)
	}
	if _, err := os.Lstat(l.intentPath()); !os.IsNotExist(err) {
		t.Errorf("the intent is left: %v", err)
	}
}

// desktop is what the desktop shows; which window is how high is what counts of
// the order.
func (l *lab) desktop() string {
	l.t.Helper()
	raw, err := json.Marshal(struct {
		Windows  []eventstore.Window
		Settings []eventstore.Setting
	}{must(l.store.Windows(l.within(), 0))(l.t), must(l.store.Settings(l.within(), 0))(l.t)})
	if err != nil {
		l.t.Fatal(err)
	}
	return string(raw)
}

// facts are what no rewind may touch.
func (l *lab) facts() string {
	l.t.Helper()
	ctx := l.within()
	var tasks []eventstore.Task
	for _, e := range l.all("task.dispatched") {
		tasks = append(tasks, must(l.store.Task(ctx, e.Task))(l.t))
	}
	raw, err := json.Marshal([]any{
		must(l.store.Runs(ctx, 100, 0))(l.t), tasks, must(l.store.Checkpoints(ctx, 100, 0))(l.t), must(l.store.Usage(ctx, ""))(l.t), must(l.Projects().List(ctx))(l.t),
		must(l.store.Conversations(ctx, 100, 0))(l.t),
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return string(raw)
}

func TestFactsDoNotGoBack(t *testing.T) {
	l := newLab(t)
	then := l.waitEvent(ofType("snapshot.taken")).Seq
	if _, err := l.Projects().Add(l.within(), choir.RoleCLI, projects.NewProject{Name: "p"}, archive(t, [2]string{"x", "x"})); err != nil {
		t.Fatal(err)
	}
	l.result(l.commands(choir.TaskEditRepo, "echo a > a"))
	for _, p := range []choir.Payload{
		choir.ModelReturned{Call: newTestID(t), Caller: "director", Provider: "p", Model: "m", InputTokens: 7},
		choir.EgressRefused{Host: "example.com", Port: 443, Policy: "none"},
	} {
		if _, err := l.events.Append(l.within(), choir.RoleControl, p); err != nil {
			t.Fatal(err)
		}
	}
	facts, events := l.facts(), len(l.all("repo.added", "checkpoint.created", "model.returned", "egress.refused", "task.returned"))
	rewound(t, l, then)
	if got := l.facts(); got != facts {
		t.Errorf("facts went back:\n%s\nthey were\n%s", got, facts)
	}
	if got := len(l.all("repo.added", "checkpoint.created", "model.returned", "egress.refused", "task.returned")); got != events || events != 5 {
		t.Errorf("the log has %d facts, it had %d", got, events)
	}
	// The project's files are gone, that it was added is not.
	if l.sh("ls workspace") != "" || len(must(l.Projects().List(l.within()))(t)) != 1 {
		t.Error("the project is still there, or forgotten")
	}
}

func TestARewindStopsWhatRuns(t *testing.T) {
	l := newLab(t)
	l.write("x", "one")
	then, _ := l.store.Head()
	running := l.commands(choir.TaskEditRepo, "echo half > x; touch /tmp/begun; "+hold)
	waiting := l.commands(choir.TaskEditRepo, "echo later > y")
	l.made("/tmp/begun")
	d := must(l.Rewinder().Rewind(l.within(), choir.RoleCLI, then, true))(t)
	if !slices.Equal(d.Stopped, []choir.ID{running.RunID, waiting.RunID}) || len(l.all("run.cancel_requested")) != 0 {
		t.Fatalf("a dry run would stop %v", d.Stopped)
	}
	r := rewound(t, l, then)
	if !slices.Equal(r.Stopped, d.Stopped) {
		t.Errorf("it stopped %v", r.Stopped)
	}
	for _, task := range []choir.DirectorTask{running, waiting} {
		if got := l.result(task); got.Code != choir.ResultCancelled {
			t.Errorf("task %s: %s %s", task.TaskID, got.Status, got.Code)
		}
	}
	for _, e := range l.all("run.cancel_requested") {
		if e.Seq > r.Receipt.Seq || payload[choir.RunCancelRequested](t, e).Reason == "" {
			t.Errorf("the run was told by %+v, the rewind is event %d", e, r.Receipt.Seq)
		}
	}
	if last := l.all("task.returned"); last[len(last)-1].Seq > r.Receipt.Seq {
		t.Error("a task returned after the rewind")
	}
	if got := l.sh("cat x; ls"); !strings.HasPrefix(got, "one") || strings.Contains(got, "y") {
		t.Errorf("the workspace has %s", got)
	}
}

func TestWhatChangedWhileNothingRanIsTheOwners(t *testing.T) {
	l := newLab(t)
	l.write("x", "one")
	then, _ := l.store.Head()
	l.stop()
	dir := filepath.Join(l.Computer.cfg.Dir, "associate", "workspace")
	if err := os.WriteFile(filepath.Join(dir, "x"), []byte("by hand"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "made"), 0o777); err != nil {
		t.Fatal(err)
	}
	again := openLab(t, l.cfg)
	again.waitEvent(func(e choir.Event) bool { return e.Type == "sandbox.started" && e.Seq > then })
	again.sh("true")
	var paths []string
	for _, e := range again.all("file.written") {
		if e.Seq < then {
			continue
		}
		if e.Source != choir.SourceUser {
			t.Errorf("it was written by %s", e.Source)
		}
		for _, f := range payload[choir.FileWritten](t, e).Files {
			paths = append(paths, f.Path)
		}
	}
	if !slices.Equal(paths, []string{"made", "x"}) {
		t.Errorf("the log says that the owner changed %q", paths)
	}
	taken := again.all("snapshot.taken")
	last := taken[len(taken)-1]
	if p := payload[choir.SnapshotTaken](t, last); p.Reason != "changed_outside" || p.Snapshot != again.root() {
		t.Errorf("%+v", p)
	}
	rewound(t, again, then)
	if got := again.sh("cat x; ls -d made 2>/dev/null || true"); !strings.HasPrefix(got, "one") {
		t.Errorf("the workspace has %s", got)
	}
	rewound(t, again, last.Seq)
	if got := again.sh("cat x; ls -d made"); got != "by handmade\n" {
		t.Errorf("what was changed by hand is %s", got)
	}
}

func TestACrashInTheMiddleOfARewindIsFinished(t *testing.T) {
	l := newLab(t)
	l.write("x", "one")
	then, _ := l.store.Head()
	target := must(l.Moments().Tree(l.within(), then))(t)
	l.write("x", "two")
	l.write("y", "two")
	before := l.root()
	done := must(l.events.Draft(choir.TimelineRewound{ToSeq: then, Snapshot: target, Before: before, Files: 2}))(t)
	l.stop()
	// As a crash after the first path leaves it.
	raw, err := json.Marshal(workspace.Intent{Before: before, Target: target, Role: choir.RoleCLI, Draft: done})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.intentPath(), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(l.Computer.cfg.Dir, "associate", "workspace", "y")); err != nil {
		t.Fatal(err)
	}
	again := openLab(t, l.cfg)
	rewound := again.waitEvent(ofType("timeline.rewound"))
	if rewound.ID != done.ID || rewound.Source != choir.SourceUser {
		t.Errorf("%+v", rewound)
	}
	if got := again.sh("cat x; ls -d y 2>/dev/null || true"); !strings.HasPrefix(got, "one") || again.root() != target {
		t.Errorf("the workspace has %s", got)
	}
	if _, err := os.Lstat(again.intentPath()); !os.IsNotExist(err) {
		t.Errorf("the intent is left: %v", err)
	}
	for _, e := range again.all("file.written", "file.removed") {
		if e.Seq > rewound.Seq {
			t.Errorf("the half that was done is told as an edit: %+v", e)
		}
	}
}

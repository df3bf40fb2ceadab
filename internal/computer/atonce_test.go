package computer

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// meet has a command of a task in one project wait until the other's has written as well:
// each writes its own project and reads the other's.
const meet = "echo mine > met; until [ -e ../OTHER/met ]; do sleep 0.02; done; "

// inProject returns a deterministic edit of a project; OTHER in its commands is the other's
// name.
func inProject(l *lab, repo, other string, lines ...string) choir.DirectorTask {
	l.t.Helper()
	task := choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: repo, Instruction: "x", VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifyNone}}
	for _, line := range lines {
		task.Commands = append(task.Commands, choir.Command{Shell: strings.ReplaceAll(line, "OTHER", other)})
	}
	return must(l.Tasks().NewTask(task))(l.t)
}

// twoProjects returns a lab with the projects app and web, if tasks are confined to them.
func twoProjects(t *testing.T, change ...func(*labConfig)) *lab {
	t.Helper()
	l := newLab(t, change...)
	for _, repo := range []string{"app", "web"} {
		l.write("workspace/"+repo+"/own", repo+"\n")
	}
	l.guest()
	if !l.Roles().ConfinesTasks() {
		t.Skip("this kernel does not confine tasks to their projects, so one works at a time")
	}
	return l
}

// submit submits tasks.
func (l *lab) submit(tasks ...choir.DirectorTask) {
	l.t.Helper()
	for _, task := range tasks {
		must(l.Tasks().Submit(l.within(), choir.RoleCLI, task))(l.t)
	}
}

// changedBy returns the paths that a result says were changed.
func changedBy(r choir.AssociateResult) (paths []string) {
	for _, f := range r.FilesChanged {
		paths = append(paths, f.Path)
	}
	return paths
}

// answeredOnce fails the test unless every task has one answer.
func (l *lab) answeredOnce(tasks ...choir.DirectorTask) {
	l.t.Helper()
	answers := map[choir.ID]int{}
	for _, e := range l.all(choir.TypeTaskReturned) {
		answers[e.Task]++
	}
	for _, task := range tasks {
		if answers[task.TaskID] != 1 {
			l.t.Errorf("the task of %s has %d answers", task.Repo, answers[task.TaskID])
		}
	}
}

// TestTwoTasksOfTwoProjectsWorkAtOnce has each wait for the other, write and reach where it
// may not, and end; a third of one of the projects waits for its turn. Then one is undone.
func TestTwoTasksOfTwoProjectsWorkAtOnce(t *testing.T) {
	l := twoProjects(t)
	line := meet + "curl -sS http://to-OTHER.example/ >/dev/null 2>&1; echo owned >> ../OTHER/own; echo owned > ../OTHER/new; cat ../OTHER/met > got; echo changed > own"
	app, web := inProject(l, "app", "web", line), inProject(l, "web", "app", line)
	again := inProject(l, "app", "web", "cat got own; rm got")
	l.submit(app, again, web)
	for repo, task := range map[string]choir.DirectorTask{"app": app, "web": web} {
		r := l.result(task)
		of := "workspace/" + repo + "/"
		if got := changedBy(r); r.Status != choir.StatusOK || !slices.Equal(got, []string{of + "got", of + "met", of + "own"}) {
			t.Errorf("%s: %s %s; it changed %q", repo, r.Status, r.Summary, got)
		}
		if r.Checkpoint == nil {
			t.Errorf("%s: its change was not committed: %s", repo, r.Summary)
		}
	}
	if r := l.result(again); r.Status != choir.StatusOK || !slices.Equal(changedBy(r), []string{"workspace/app/got"}) {
		t.Errorf("the second of a project: %s %s; it changed %q", r.Status, r.Summary, changedBy(r))
	}
	l.answeredOnce(app, web, again)
	for _, e := range l.all(choir.TypeFileWritten, choir.TypeFileRemoved) {
		if strings.Contains(string(e.Payload), `"workspace/app/`) && e.Task == web.TaskID || strings.Contains(string(e.Payload), `"workspace/web/`) && (e.Task == app.TaskID || e.Task == again.TaskID) {
			t.Errorf("event %d is said to be the other's: %s", e.Seq, e.Payload)
		}
	}
	refused := map[string]choir.ID{}
	for _, e := range l.all(choir.TypeEgressRefused) {
		refused[payload[choir.EgressRefused](t, e).Host] = e.Task
	}
	if refused["to-web.example"] != app.TaskID || refused["to-app.example"] != web.TaskID {
		t.Errorf("what was wanted outside is said to be of %v", refused)
	}
	must(l.Rewinder().Undo(l.within(), choir.RoleCLI, web.TaskID, false))(t)
	if got := l.sh("cd workspace; echo app:; ls app; cat app/own; echo web:; ls web; cat web/own"); got != "app:\nmet\nown\nchanged\nweb:\nown\nweb\n" {
		t.Errorf("after the undo of one task the projects are\n%s", got)
	}
}

// TestOneTaskIsStoppedBesideAnother stops one, which is taken back, while the other goes on.
func TestOneTaskIsStoppedBesideAnother(t *testing.T) {
	l := twoProjects(t)
	stopped := inProject(l, "app", "web", meet+"echo half > own; "+hold)
	other := inProject(l, "web", "app", meet+"touch ready; "+hold+"; echo changed > own")
	l.submit(stopped, other)
	l.made("workspace/web/ready")
	if err := l.Runs().Cancel(l.within(), choir.RoleCLI, stopped.RunID, ""); err != nil {
		t.Fatal(err)
	}
	if r := l.result(stopped); r.Code != choir.ResultCancelled {
		t.Errorf("%s %s", r.Code, r.Summary)
	}
	l.sh("touch /tmp/go")
	if r := l.result(other); r.Status != choir.StatusOK {
		t.Errorf("the other: %s %s", r.Status, r.Summary)
	}
	if got := l.sh("cd workspace; ls app; cat app/own web/own"); got != "own\napp\nchanged\n" {
		t.Errorf("the projects are\n%s", got)
	}
	l.answeredOnce(stopped, other)
}

// TestBothTasksAreTakenUpAgainWhenTheAssociateEnds ends its process while two tasks work.
// Each is taken back, executed again alone, and answered once.
func TestBothTasksAreTakenUpAgainWhenTheAssociateEnds(t *testing.T) {
	l := twoProjects(t)
	line := "echo x >> own; touch began; " + hold
	app, web := inProject(l, "app", "web", line), inProject(l, "web", "app", line)
	l.submit(app, web)
	l.made("workspace/app/began")
	l.made("workspace/web/began")
	if err := l.guest().StopRole(l.within()); err != nil {
		t.Fatal(err)
	}
	l.sh("touch /tmp/go")
	l.bothDone(app, web)
	begun, ended := 0, 0
	for _, e := range l.all(choir.TypeTaskStarted, choir.TypeTaskReturned) {
		switch {
		case e.Type == choir.TypeTaskReturned:
			ended++
		case payload[choir.TaskStarted](t, e).Attempt > 1:
			if begun++; begun-ended > 1 {
				t.Error("both were executed again at once")
			}
		}
	}
}

// TestBothTasksAreAnsweredOnceWhenChoirIsKilled kills the control plane while two tasks
// work, which end with the next one.
func TestBothTasksAreAnsweredOnceWhenChoirIsKilled(t *testing.T) {
	l := twoProjects(t)
	line := "echo x >> own; touch began; " + hold
	app, web := inProject(l, "app", "web", line), inProject(l, "web", "app", line)
	l.stop()
	dispatched(t, l.cfg, app, web)
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), asVictim+"="+string(must(json.Marshal(l.cfg))(t)))
	victim.Stderr = os.Stderr
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	l.eventually(func() bool {
		_, a := os.Stat(filepath.Join(l.workspaceDir(), "workspace/app/began"))
		_, b := os.Stat(filepath.Join(l.workspaceDir(), "workspace/web/began"))
		return a == nil && b == nil
	})
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait() // killed
	l = openLab(t, l.cfg)
	l.sh("touch /tmp/go")
	l.bothDone(app, web)
}

// bothDone fails the test unless the tasks of both projects succeed, with one line added in
// each project and one answer for each task.
func (l *lab) bothDone(app, web choir.DirectorTask) {
	l.t.Helper()
	for _, task := range []choir.DirectorTask{app, web} {
		if r := l.result(task); r.Status != choir.StatusOK {
			l.t.Errorf("%s: %s %s", task.Repo, r.Status, r.Summary)
		}
	}
	if got := l.sh("cd workspace; cat app/own web/own"); got != "app\nx\nweb\nx\n" {
		l.t.Errorf("the projects are\n%s", got)
	}
	l.answeredOnce(app, web)
}

// dispatched appends the dispatch of tasks to the log of a computer that does not run.
func dispatched(t *testing.T, cfg labConfig, tasks ...choir.DirectorTask) {
	t.Helper()
	s := must(eventstore.Open(t.Context(), filepath.Join(cfg.Data, string(cfg.Computer)), eventstore.Config{
		Computer: cfg.Computer, User: cfg.User, Now: func() choir.Time { return 1 },
	}))(t)
	defer s.Close()
	events := appender.New(s, cfg.Computer, func() (choir.ID, error) { return newTestID(t), nil }, nil)
	for _, task := range tasks {
		must(events.AppendToRun(t.Context(), choir.RoleCLI, choir.DeriveID(task.TaskID, "dispatched"), task.RunID, task.TaskID, choir.TaskDispatched{Task: task}))(t)
	}
}

package computer

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/rolehost"
	"choiros/internal/guest"
	"choiros/internal/model"
	"choiros/internal/sandbox"
)

// A model is called for what is open in the log, and for nothing that a body
// makes up.
func TestAModelIsCalledForWhatIsOpen(t *testing.T) {
	l := newLab(t)
	l.stop()
	c, bus, err := l.cfg.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	defer c.Close()
	ctx := t.Context()
	run, _, err := c.Prompt(ctx, choir.RoleShell, choir.PromptSubmitted{Text: "hi"}, "")
	if err != nil {
		t.Fatal(err)
	}
	task := must(c.NewTask(choir.DirectorTask{Kind: choir.TaskRun, Instruction: "x"}))(t)
	must(c.SubmitTask(ctx, choir.RoleCLI, task))(t)
	other := newTestID(t)
	try := func(role choir.Role, run, task choir.ID, want choir.Code, names string) {
		t.Helper()
		err := c.MayCall(ctx, role, run, task)
		if choir.CodeOf(err) != want || err != nil && !strings.Contains(err.Error(), names) {
			t.Errorf("the %s for run %q and task %q: %v, want %q that names %q", role, run, task, err, want, names)
		}
	}
	try(choir.RoleDirector, run, "", "", "")
	try(choir.RoleAssociate, task.RunID, task.TaskID, "", "")
	try(choir.RoleDirector, other, "", choir.CodeConflict, string(other))
	try(choir.RoleDirector, "", "", choir.CodeInvalid, "run")
	try(choir.RoleDirector, run, task.TaskID, choir.CodeInvalid, "task")
	try(choir.RoleAssociate, run, "", choir.CodeInvalid, "task")
	try(choir.RoleAssociate, run, task.TaskID, choir.CodeConflict, string(task.TaskID))
	try(choir.RoleAssociate, task.RunID, other, choir.CodeConflict, string(other))
	over := choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "there"}
	must(c.appendToRun(ctx, choir.RoleControl, newTestID(t), run, "", over))(t)
	try(choir.RoleDirector, run, "", choir.CodeConflict, string(run))
	answered := choir.TaskReturned{Result: choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: task.TaskID, RunID: task.RunID, Status: choir.StatusFailed, Code: choir.ResultCancelled,
		FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
		Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown}, Summary: "stopped",
	}}
	must(c.appendToRun(ctx, choir.RoleControl, newTestID(t), task.RunID, task.TaskID, answered))(t)
	try(choir.RoleAssociate, task.RunID, task.TaskID, choir.CodeConflict, string(task.TaskID))
}

// What an older choir listened at is taken away.
func TestOldDoorsAreRemoved(t *testing.T) {
	l := newLab(t)
	l.guest()
	l.stop()
	doors := filepath.Join(l.cfg.Data, string(l.cfg.Computer), "associate", "doors")
	if err := os.Chmod(doors, 0o750); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bus.sock", "egress.sock"} {
		if err := os.WriteFile(filepath.Join(doors, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	again := openLab(t, l.cfg)
	again.guest()
	entries := must(os.ReadDir(doors))(t)
	info := must(os.Stat(doors))(t)
	if len(entries) != 1 || entries[0].Name() != sandbox.ControlSocket || info.Mode().Perm() != 0o700 {
		t.Errorf("%v in a folder of mode %v", entries, info.Mode())
	}
}

// A tool's request is a tool's whatever it says, and the role's own are the
// role's.
func TestTheEgressDoorKnowsItsCallers(t *testing.T) {
	type said struct {
		role   choir.Role
		isRole bool
		path   string
	}
	heard := make(chan said, 100)
	l := newLab(t, func(c *labConfig) {
		c.Egress = func(*Computer) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				role, isRole := rolehost.Caller(r)
				heard <- said{role, isRole, r.URL.Path}
				io.WriteString(w, "ok\n")
			})
		}
	})
	l.sh(`exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/8801; printf "GET /choir/v1/model HTTP/1.0\r\nHost: x\r\n\r\n" >&3; cat <&3'`)
	if got := <-heard; got != (said{choir.RoleAssociate, false, model.CallPath}) {
		t.Errorf("a tool is taken for %+v", got)
	}
	task := must(l.NewTask(choir.DirectorTask{Kind: choir.TaskInspect, Instruction: "look"}))(t)
	must(l.SubmitTask(l.within(), choir.RoleCLI, task))(t)
	select {
	case got := <-heard:
		if got != (said{choir.RoleAssociate, true, model.CallPath}) {
			t.Errorf("the role is taken for %+v", got)
		}
	case <-l.within().Done():
		t.Fatal("the role has not called")
	}
}

// A role that hangs is started again, and what else runs in the sandbox goes on.
func TestARoleThatHangsTakesNothingWithIt(t *testing.T) {
	l := newLab(t, func(c *labConfig) { c.Identity = 2 * time.Second })
	command := must(l.guest().Exec(l.within(), guest.ExecSpec{Argv: []string{"cat"}, Stdin: true}))(t)
	defer command.Close()
	l.eventually(func() bool { return l.Roles().Serving(choir.RoleAssociate) })
	before := l.rolePID()
	l.sh("kill -STOP " + strconv.Itoa(before))
	l.eventually(func() bool { now := l.rolePID(); return now != 0 && now != before })
	if r := l.result(l.commands(choir.TaskRun, "true")); r.Status != choir.StatusOK {
		t.Errorf("%s %s", r.Code, r.Summary)
	}
	if l.sh("kill -0 "+strconv.Itoa(command.PID())+" && echo here") != "here\n" {
		t.Error("a command ended with the role")
	}
	if ended := l.all("sandbox.stopped"); len(ended) > 0 {
		t.Errorf("%d sandboxes ended", len(ended))
	}
}

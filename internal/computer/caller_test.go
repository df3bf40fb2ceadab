package computer

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/rolehost"
	"choiros/internal/guest"
	"choiros/internal/model"
	"choiros/internal/sandbox"
)

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
	task := must(l.Tasks().NewTask(choir.DirectorTask{Kind: choir.TaskInspect, Instruction: "look"}))(t)
	must(l.Tasks().Submit(l.within(), choir.RoleCLI, task))(t)
	select {
	case got := <-heard:
		if got != (said{choir.RoleAssociate, true, model.CallPath}) {
			t.Errorf("the role is taken for %+v", got)
		}
	case <-l.within().Done():
		t.Fatal("the role has not called")
	}
}

// A program says on whose behalf it asks by the address that it was given, also when it
// is a daemon by then; a program of the owner is no task's.
func TestADaemonAsksOnBehalfOfTheTaskThatStartedIt(t *testing.T) {
	heard := make(chan rolehost.Working, 100)
	l := newLab(t, func(c *labConfig) {
		c.Egress = func(c *Computer) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				on, err := c.Roles().WorkingOn(r.Context())
				if err != nil {
					t.Error(err)
				}
				heard <- on
				io.WriteString(w, "ok\n")
			})
		}
	})
	const ask = `curl -s -o /dev/null "$OPENAI_BASE_URL/x"`
	l.sh(ask)
	if got := <-heard; got != (rolehost.Working{}) {
		t.Errorf("the owner's program works on %+v", got)
	}
	result := l.result(l.commands(choir.TaskRun, "setsid -f sh -c '("+ask+"; echo > $TMPDIR/asked) &'; until [ -e $TMPDIR/asked ]; do :; done; rm $TMPDIR/asked"))
	if result.Status != choir.StatusOK {
		t.Fatalf("%s: %s", result.Code, result.Summary)
	}
	if got := <-heard; got.Task != result.TaskID || got.Run != result.RunID || got.Call != "" {
		t.Errorf("the daemon works on %+v, want the task %s", got, result.TaskID)
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

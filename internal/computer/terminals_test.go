package computer

import (
	"context"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/rolehost"
	"choiros/internal/computer/terminals"
	"choiros/internal/computer/treemerge"
	"choiros/internal/guest"
)

// tty is a terminal of a lab and a browser that looks at it.
type tty struct {
	l    *lab
	id   choir.ID
	view *terminals.View
	out  strings.Builder
	end  *terminals.End
}

func (l *lab) terminal(n rolehost.NewTerminal) *tty {
	l.t.Helper()
	info := must(l.Roles().Terminals().Open(l.within(), choir.RoleDesktop, n))(l.t)
	return l.watch(info.ID, 0)
}

func (l *lab) watch(id choir.ID, after uint64) *tty {
	l.t.Helper()
	tt := &tty{l: l, id: id, view: must(l.Roles().Terminals().Attach(id, after))(l.t)}
	l.t.Cleanup(tt.view.Close)
	return tt
}

func (t *tty) typed(keys string) {
	t.l.t.Helper()
	if err := t.view.Type([]byte(keys)); err != nil {
		t.l.t.Fatal(err)
	}
}

// next takes one update in; false after the end.
func (t *tty) next() bool {
	t.l.t.Helper()
	if t.end != nil {
		return false
	}
	u, err := t.view.Next(t.l.within())
	if err != nil {
		t.l.t.Fatalf("%v after %q", err, t.tail())
	}
	t.out.Write(u.Data)
	if len(u.Data) > 0 {
		t.view.Ack(u.From + uint64(len(u.Data)))
	}
	t.end = u.End
	return true
}

// shows waits until these words were printed after what was shown before, and
// returns what came before them.
func (t *tty) shows(words string) string {
	t.l.t.Helper()
	for {
		if before, after, ok := strings.Cut(t.out.String(), words); ok {
			t.out.Reset()
			t.out.WriteString(after)
			return before
		}
		if !t.next() {
			t.l.t.Fatalf("it ended with %+v and %q, without %q", t.end, t.tail(), words)
		}
	}
}

// tail is the end of what was shown, for people.
func (t *tty) tail() string { return t.out.String()[max(0, t.out.Len()-400):] }

func (t *tty) ends() terminals.End {
	t.l.t.Helper()
	for t.next() {
	}
	return *t.end
}

func TestATerminalIsAShellInTheSandbox(t *testing.T) {
	l := newLab(t)
	tt := l.terminal(rolehost.NewTerminal{Title: " one\x1b[31m\n two ", Size: guest.Size{Rows: 31, Cols: 99}})
	// The sum is printed by the shell, not by the echo of what is typed.
	tt.typed("echo at=$PWD uid=$(id -u) size=$(stty size) login=$(shopt -q login_shell && echo yes) n=$((40+2))\n")
	line, _, _ := strings.Cut(tt.shows("n=42"), "\x00")
	if !strings.Contains(line, "at=/workspace/workspace ") || !strings.Contains(line, "size=31 99 login=yes") {
		t.Errorf("it shows %q", line)
	}
	if uid := strings.TrimSpace(l.sh("id -u")); !strings.Contains(line, "uid="+uid+" ") {
		t.Errorf("it is another user than %s: %q", uid, line)
	}
	opened := payload[choir.TerminalOpened](t, l.waitEvent(ofType("terminal.opened")))
	if opened.Terminal != tt.id || opened.Title != "one [31m two" || opened.Cwd != "workspace" {
		t.Errorf("%+v", opened)
	}
	if e := l.all("terminal.opened")[0]; e.Source != choir.SourceDesktop {
		t.Errorf("opened by %q", e.Source)
	}
	tt.typed("exit 7\n")
	if end := tt.ends(); end.Reason != choir.TerminalExited || end.Code != 7 {
		t.Errorf("%+v", end)
	}
	if closed := payload[choir.TerminalClosed](t, l.waitEvent(ofType("terminal.closed"))); closed.Code != 7 || closed.Terminal != tt.id {
		t.Errorf("%+v", closed)
	}
	for name, n := range map[string]rolehost.NewTerminal{"up": {Cwd: "../etc"}, "root": {Cwd: "/etc"}, "dot": {Cwd: "a/."}} {
		if _, err := l.Roles().Terminals().Open(l.within(), choir.RoleShell, n); choir.CodeOf(err) != choir.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := l.Roles().Terminals().Open(l.within(), choir.RoleShell, rolehost.NewTerminal{Cwd: "none"}); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("no folder: %v", err)
	}
}

func TestClosingATerminalEndsItsChildren(t *testing.T) {
	l := newLab(t)
	tt := l.terminal(rolehost.NewTerminal{})
	tt.typed("nohup setsid sleep 1001 & (setsid setsid sleep 1002 &); trap '' HUP TERM; sleep 1003 & echo up=$((40+2))\n")
	tt.shows("up=42")
	l.sh("while [ $(pgrep -c -f 'sleep 100[123]') -lt 3 ]; do sleep 0.01; done")
	if err := l.Roles().Terminals().Close(l.within(), choir.RoleShell, tt.id); err != nil {
		t.Fatal(err)
	}
	if left := l.sh("pgrep -a sleep || true"); left != "" {
		t.Errorf("left: %s", left)
	}
	if end := tt.ends(); end.Reason != choir.TerminalShut {
		t.Errorf("%+v", end)
	}
	if _, err := l.Roles().Terminals().Attach(tt.id, 0); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("it can still be looked at: %v", err)
	}
}

// inside is what runs in the Associate's sandbox, but for what looks and the
// Associate's own two processes, which may start later than the first terminal.
func (l *lab) inside() string {
	l.t.Helper()
	return l.sh("ps -e -o comm= | grep -vxE 'sh|ps|grep|sort|choir-associate' | sort")
}

func TestFiftyTerminalsLeaveNothing(t *testing.T) {
	l := newLab(t)
	cycle := func() {
		tt := l.terminal(rolehost.NewTerminal{})
		tt.typed("sleep 1000 & echo up=$((40+2))\n")
		tt.shows("up=42")
		if err := l.Roles().Terminals().Close(l.within(), choir.RoleShell, tt.id); err != nil {
			t.Fatal(err)
		}
		tt.ends()
		tt.view.Close()
	}
	cycle()
	processes := l.inside()
	for range 50 {
		cycle()
	}
	// What was killed is there until init has taken note of it.
	now := ""
	defer func() {
		if now != processes {
			t.Logf("the sandbox had the processes\n%sand has\n%s", processes, now)
		}
	}()
	l.eventually(func() bool {
		now = l.inside()
		return now == processes
	})
	if n := len(l.all("terminal.closed")); n != 51 || len(l.Roles().Terminals().List()) != 0 {
		t.Errorf("%d ends, open: %v", n, l.Roles().Terminals().List())
	}
}

func TestControlCGetsThroughAFlood(t *testing.T) {
	l := newLab(t)
	tt := l.terminal(rolehost.NewTerminal{})
	stalled := must(l.Roles().Terminals().Attach(tt.id, 0))(t) // takes nothing
	defer stalled.Close()
	tt.typed("yes\n")
	tt.shows("y\r\ny\r\n")
	tt.typed("x")    // held up like all output, and
	tt.typed("\x03") // must not hold this up
	stalled.Close()
	tt.shows("^C\r\n")
	tt.typed("echo after=$((40+2))\n")
	tt.shows("after=42")
}

func TestWhatATerminalChangesIsTheOwners(t *testing.T) {
	l := newLab(t)
	l.write("base", "1")
	tt := l.terminal(rolehost.NewTerminal{})
	tt.typed("echo hi > made; echo up=$((40+2))\n")
	tt.shows("up=42")
	e := l.waitEvent(func(e choir.Event) bool {
		return e.Type == "file.written" && strings.Contains(string(e.Payload), `"workspace/made"`)
	})
	if e.Source != choir.SourceUser || e.Task != "" {
		t.Errorf("by %q for task %q", e.Source, e.Task)
	}
}

func TestARewindTellsAndEndsTerminals(t *testing.T) {
	l := newLab(t)
	l.write("a", "one")
	then, _ := l.store.Head()
	before := l.root()
	l.write("a", "two")
	tt := l.terminal(rolehost.NewTerminal{})
	// It writes for as long as it lives.
	tt.typed("trap '' HUP; while :; do echo $RANDOM > racing; done & echo up=$((40+2))\n")
	tt.shows("up=42")
	dry := must(l.Rewinder().Rewind(l.within(), choir.RoleCLI, then, true))(t)
	if len(l.Roles().Terminals().List()) != 1 || len(dry.Changes) == 0 {
		t.Errorf("a dry run ended it")
	}
	if dry.Terminals != 1 {
		t.Errorf("the dry run says that %d terminals end", dry.Terminals)
	}
	rewound(t, l, then)
	if now := l.root(); now != before {
		t.Errorf("the workspace is %s, it was %s: %s", now, before, l.sh("find . -type f"))
	}
	if end := tt.ends(); end.Reason != choir.TerminalRewind {
		t.Errorf("%+v", end)
	}
	if !strings.Contains(tt.out.String(), "goes back to an earlier moment") {
		t.Errorf("it shows %q", tt.out.String())
	}
	l.terminal(rolehost.NewTerminal{}) // another can be opened
}

func TestAnUndoEndsTerminals(t *testing.T) {
	l := newLab(t)
	l.write("a", "one")
	task := l.commands(choir.TaskEditRepo, "echo two > a")
	if r := l.result(task); r.Status != choir.StatusOK {
		t.Fatalf("%s %s", r.Code, r.Summary)
	}
	undo := func(dry bool) treemerge.Applied {
		return must(l.Rewinder().Undo(l.within(), choir.RoleCLI, task.TaskID, dry))(t)
	}
	if n := undo(true).Terminals; n != 0 {
		t.Errorf("without a terminal, %d are said to end", n)
	}
	tt := l.terminal(rolehost.NewTerminal{})
	tt.typed("echo mine > mine; echo up=$((40+2))\n")
	tt.shows("up=42")
	if n := undo(true).Terminals; n != 1 || len(l.Roles().Terminals().List()) != 1 {
		t.Errorf("the dry run says that %d terminals end", n)
	}
	if n := undo(false).Terminals; n != 1 {
		t.Errorf("the undo says that %d terminals ended", n)
	}
	if end := tt.ends(); end.Reason != choir.TerminalUndo {
		t.Errorf("%+v", end)
	}
	if got := l.sh("cat a workspace/mine"); got != "onemine\n" {
		t.Errorf("the workspace has %q", got)
	}
}

func TestTerminalsOfASessionThatWasKilledAreClosedInTheLog(t *testing.T) {
	l := newLab(t)
	tt := l.terminal(rolehost.NewTerminal{})
	tt.typed("echo up=$((40+2))\n")
	tt.shows("up=42")
	l.stop()
	tt.ends()
	if tt.end.Reason != choir.TerminalLost {
		t.Errorf("%+v", tt.end)
	}
	if lost := must(terminals.Lost(l.store.Events(context.Background(), 1, 0)))(t); len(lost) != 0 {
		t.Errorf("an orderly stop left %v open in the log", lost)
	}
}

func TestATerminalIsTypedIntoOnceItTakesWords(t *testing.T) {
	tt := newLab(t).terminal(rolehost.NewTerminal{Type: "echo so$((6*7))many\r"})
	if before := tt.shows("so42many"); strings.Count(before, "echo so") != 1 {
		t.Errorf("it was echoed before the prompt: %q", before)
	}
}

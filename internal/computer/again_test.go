package computer

import (
	"context"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/projects"
	"choiros/internal/computer/rolehost"
)

// TestAComputerServesASecondTime puts a computer to sleep and wakes it without
// opening it anew, as the supervisor does after an error. It begins with a
// session that was killed, of which only the first is called recovered.
func TestAComputerServesASecondTime(t *testing.T) {
	cfg, _ := crashed(t)
	l := openLab(t, cfg)
	l.guest()
	l.sh("mkdir -p " + projects.Folder) // the kill may have come before it was made
	l.terminal(rolehost.NewTerminal{}).typed("echo one\n")
	l.rest()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := l.Roles().Terminals().Open(ctx, choir.RoleShell, rolehost.NewTerminal{}); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("a terminal of a computer that sleeps: %v", err)
	}
	before := len(l.all("session.started"))
	l.wake()
	l.guest()
	second := l.terminal(rolehost.NewTerminal{})
	second.typed("echo t''wo\n")
	second.shows("two")
	if r := l.result(l.commands(choir.TaskRun, "echo works")); r.Status != choir.StatusOK {
		t.Errorf("%s %s", r.Code, r.Summary)
	}
	sessions := l.all("session.started")
	if len(sessions) != before+1 || !payload[choir.SessionStarted](t, sessions[before-1]).Recovered || payload[choir.SessionStarted](t, sessions[before]).Recovered {
		t.Errorf("%d sessions: the one after the kill is called recovered, the next is not", len(sessions)-before)
	}
}

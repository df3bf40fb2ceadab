package main

import (
	"errors"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// endless leaves a program behind that ends every role it can reach, and then ends
// the one that runs the task.
const endless = `{"kind":"run","instruction":"End the role.","verify_profile":{"mode":"none"},"time_budget_s":20,"commands":[
{"shell":"(setsid sh -c 'while :; do pkill -9 choir-associate; sleep 0.02; done' & ) ; sleep 1"}],"return":{"logs":true}}`

// orphaned leaves a program behind and waits.
const orphaned = `{"kind":"run","instruction":"Wait.","verify_profile":{"mode":"none"},"time_budget_s":300,"commands":[
{"shell":"setsid sleep 86399 & sleep 86399"}]}`

const next = `{"kind":"run","instruction":"Say yes.","verify_profile":{"mode":"none"},"commands":[{"shell":"pgrep -x sleep || echo yes"}],"return":{"logs":true}}`

// TestATaskDoesNotEndItsRole has a task try. Where the kernel cannot keep it from
// that, the task is given up after some attempts, and the next one runs.
func TestATaskDoesNotEndItsRole(t *testing.T) {
	m := newMachine(t, "")
	up := m.up()
	defer up.stop()
	up.healthy()
	r := m.runWith(endless, "task", "-")
	if n := begun(t, m); n == 0 || n > 7 {
		t.Errorf("the task was begun %d times", n)
	}
	if r.code != 0 && !strings.Contains(r.out+r.errOut, "it is not begun again") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.errOut)
	}
	m.next(t)
}

// TestATaskWhoseRoleIsKilledEachTimeEnds kills the Associate and the process below
// which commands run, from the host, whenever a task begins. When the second goes
// first, the task is answered at once; either way nothing of it is left.
func TestATaskWhoseRoleIsKilledEachTimeEnds(t *testing.T) {
	m := newMachine(t, "")
	up := m.up()
	defer up.stop()
	up.healthy()
	c := m.client()
	done := make(chan ran, 1)
	go func() { done <- m.runWith(orphaned, "task", "-") }()
	err := c.follow(t.Context(), "", 0, func(e choir.Event) (bool, error) {
		if e.Type == "task.started" {
			m.eventually("the program that stays", func() error {
				if !strings.Contains(strings.Join(m.processes(), "\n"), "sleep 86399") {
					return errors.New("it does not run")
				}
				return nil
			})
			if err := m.killGuest(associate); err != nil {
				return false, err
			}
		}
		return e.Type == "task.returned", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.code == 0 || !strings.Contains(r.out+r.errOut, `"code":"crashed"`) || begun(t, m) > 7 {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.errOut)
	}
	m.next(t)
}

// next runs a task that must end well, with nothing left of those before it.
func (m *machine) next(t *testing.T) {
	t.Helper()
	if r := m.runWith(next, "task", "-"); r.code != 0 || !strings.Contains(r.out, "yes") {
		t.Errorf("the next task: exit code %d: %s%s", r.code, r.out, r.errOut)
	}
}

func begun(t *testing.T, m *machine) (n int) {
	for _, e := range m.client().log(t) {
		if e.Type == "task.started" {
			n++
		}
	}
	return n
}

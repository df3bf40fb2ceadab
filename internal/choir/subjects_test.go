package choir

import (
	"slices"
	"testing"
)

const (
	testUser     ID = "0198aaaa-0000-7000-8000-000000000001"
	testComputer ID = "0198aaaa-0000-7000-8000-000000000002"
)

func TestSubjectsOfEachRole(t *testing.T) {
	at := "." + string(testUser) + "." + string(testComputer) + "."
	events := []string{"user" + at + ">", "agent" + at + "*.>"}
	ask := func(role string, verbs ...string) (out []string) {
		for _, v := range verbs {
			out = append(out, "cmd"+at+v+"."+role+".c1")
		}
		return out
	}
	live := []string{"live" + at + "*.*"}
	cases := map[Role]struct{ publish, subscribe []string }{
		RoleShell:   {ask("shell", "events-after"), slices.Concat(events, live)},
		RoleDesktop: {ask("desktop", "events-after"), slices.Concat(events, live, []string{"draft." + string(testUser) + "." + string(testComputer)})},
		RoleCLI:     {ask("cli", "events-after"), slices.Concat(events, live)},
		RoleDirector: {
			append([]string{"live" + at + "director.*"}, ask("director", "append", "events-after", "run-read", "facts-read", "look", "blob-put", "blob-get", "hello")...),
			events},
		RoleAssociate: {
			append([]string{"live" + at + "associate.*"}, ask("associate", "append", "tasks-after", "blob-put", "blob-get", "task-begin", "task-tree", "task-rollback", "task-commit", "task-land", "task-attempt", "task-steering", "task-output")...),
			[]string{"agent" + at + "*.task.dispatched", "agent" + at + "*.task.cancel_requested", "agent" + at + "*.command.end_requested", "agent" + at + "*.task.returned", "agent" + at + "*.run.paused", "agent" + at + "*.run.resumed"}},
		RolePool: {nil, []string{"job.*"}},
	}
	for role, want := range cases {
		c := Caller{Role: role, User: testUser, Computer: testComputer, Connection: "c1"}
		if got := c.Publishes(); !slices.Equal(got, want.publish) {
			t.Errorf("%s may publish\n%q, want\n%q", role, got, want.publish)
		}
		if got := c.Subscribes(); !slices.Equal(got, want.subscribe) {
			t.Errorf("%s may subscribe\n%q, want\n%q", role, got, want.subscribe)
		}
	}
}

func TestControlServesEveryComputer(t *testing.T) {
	c := Caller{Role: RoleControl}
	if !slices.Contains(c.Subscribes(), "cmd.*.*.*.*.*") {
		t.Errorf("control hears %q, without commands", c.Subscribes())
	}
	if got := c.Publishes(); !slices.Contains(got, "user.*.*.>") || slices.Contains(got, "live.*.*.*.*") {
		t.Errorf("control publishes %q", got)
	}
}

func TestABoundRoleWithoutItsComputerMayNothing(t *testing.T) {
	for _, role := range Roles() {
		c := Caller{Role: role, User: testUser}
		if role != RoleControl && (c.Publishes() != nil || c.Subscribes() != nil) {
			t.Errorf("%s without a computer may publish %q and subscribe %q", role, c.Publishes(), c.Subscribes())
		}
	}
}

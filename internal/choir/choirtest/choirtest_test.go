package choirtest_test

import (
	"testing"

	"pgregory.net/rapid"

	"choiros/internal/choir"
	"choiros/internal/choir/choirtest"
)

func accepted(t *rapid.T, role choir.Role, d choir.Draft) {
	info, ok := choir.LookupType(d.Type)
	if !ok || !info.MayAppend(role) || info.Run && d.Run == "" {
		t.Fatalf("%s cannot append %s with run %q", role, d.Type, d.Run)
	}
	if _, err := choir.DecodePayload(d.Type, d.Payload); err != nil {
		t.Fatalf("%s: %v", d.Payload, err)
	}
}

func TestDraftsAreAcceptedFromTheirRole(t *testing.T) {
	for _, role := range []choir.Role{choir.RoleShell, choir.RoleDesktop, choir.RoleCLI, choir.RoleDirector, choir.RoleAssociate, choir.RoleControl} {
		rapid.Check(t, func(t *rapid.T) { accepted(t, role, choirtest.Draft(role).Draw(t, "draft")) })
	}
}

func TestHistoriesAreAccepted(t *testing.T) {
	ended := 0
	rapid.Check(t, func(t *rapid.T) {
		log := choirtest.History(1, 3).Draw(t, "history")
		if log[0].Draft.Type != "computer.created" {
			t.Fatalf("begins with %s", log[0].Draft.Type)
		}
		ids := map[choir.ID]bool{}
		for _, e := range log {
			accepted(t, e.Role, e.Draft)
			if ids[e.Draft.ID] {
				t.Skip("two random ids are the same")
			}
			ids[e.Draft.ID] = true
			if e.Draft.Type == "run.finished" {
				ended++
			}
		}
	})
	if ended == 0 {
		t.Error("no run of any history came to its end")
	}
}

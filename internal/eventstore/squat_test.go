package eventstore

import (
	"bytes"
	"context"
	"testing"

	"pgregory.net/rapid"

	"choiros/internal/choir"
	"choiros/internal/choir/choirtest"
)

// TestNoRoleHidesAnEventOfAnother: one role appends whatever it may, under ids that
// others are going to use. Then each append of another role is in the log with
// everything it says, or is refused with the name of the one event of its type
// that is there; and the task can be returned.
func TestNoRoleHidesAnEventOfAnother(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		s := open(t, t.TempDir())
		defer s.Close()
		run, task := dispatched(t, s)
		ids := rapid.SampledFrom([]choir.ID{
			choir.DeriveID(task, "returned"), choir.DeriveID(task, "checkpointed"), choir.DeriveID(run, "run.finished"), choir.DeriveID(run, "plan.made"),
			choir.DeriveID(choir.DeriveID(task, "call", "1"), "called"), choir.DeriveID(run, "model.called", "1"), choir.DeriveID(run, "budget", "run", "cost", "1"),
		})
		squatter := rapid.SampledFrom([]choir.Role{choir.RoleAssociate, choir.RoleDirector, choir.RoleDesktop}).Draw(rt, "squatter")
		say := func(role choir.Role) choir.Draft {
			d := choirtest.Draft(role).Draw(rt, "draft")
			d.ID = ids.Draw(rt, "id")
			if d.Type == "task.returned" || d.Type == "task.dispatched" {
				d.Type, d.Payload = "task.progressed", []byte(`{"kind":"progress","text":"x"}`)
				if role != choir.RoleAssociate {
					d.Type, d.Payload = "plan.refused", []byte(`{"problems":["x"]}`)
				}
			}
			if info, _ := choir.LookupType(d.Type); !info.MayAppend(role) {
				d.Type, d.Payload = "budget.reached", []byte(`{"limit":"cost","max":1,"scope":"run","used":1}`)
				if !must[choir.TypeInfo](t)(typeInfo(d.Type)).MayAppend(role) {
					d.Type, d.Payload = "window.closed", []byte(`{"window":"`+string(run)+`"}`)
				}
			}
			return d.ForRun(run, task)
		}
		for range rapid.IntRange(1, 8).Draw(rt, "squats") {
			_, _ = s.Append(ctx, squatter, say(squatter)) // whatever it may
		}
		for _, role := range []choir.Role{choir.RoleControl, choir.RoleAssociate, choir.RoleDirector, choir.RoleShell} {
			if role != squatter {
				appendTruly(rt, s, role, say(role))
			}
		}
		result := returned(t, run, task, "stood in")
		result.ID = choir.DeriveID(task, "returned")
		appendTruly(rt, s, choir.RoleControl, result)
		if got, err := s.Task(ctx, task); err != nil || got.Result == nil {
			rt.Fatalf("the task cannot be returned: %+v %v", got, err)
		}
	})
}

func typeInfo(t choir.Type) (choir.TypeInfo, error) {
	info, ok := choir.LookupType(t)
	if !ok {
		return info, choir.Invalid("type", "%q is not an event type", t)
	}
	return info, nil
}

// appendTruly appends as a role does and holds the receipt against the log.
func appendTruly(t *rapid.T, s *Store, role choir.Role, d choir.Draft) {
	ctx := context.Background()
	drafts := []choir.Draft{d}
	fresh := func(*choir.First) (choir.ID, error) { return newID(), nil }
	receipts, _, err := choir.AppendAs(ctx, role.Source(), drafts, fresh, func(ctx context.Context, drafts ...choir.Draft) ([]choir.Receipt, error) {
		return s.Append(ctx, role, drafts...)
	})
	info, _ := choir.LookupType(d.Type)
	if err != nil {
		first := choir.FirstOf(err)
		answersNothing := info.After != "" && choir.CodeOf(err) == choir.CodeNotFound
		if !answersNothing && (first == nil || first.Type != d.Type) {
			t.Fatalf("%s of the %s is refused: %v", d.Type, role, err)
		}
		return
	}
	e, err := s.Event(ctx, receipts[0].ID)
	if err != nil || e.Seq != receipts[0].Seq || e.Hash != receipts[0].Hash || e.Source != role.Source() || e.Type != d.Type || e.Run != d.Run || e.Task != d.Task {
		t.Fatalf("the receipt of %s of the %s is that of %+v, %v", d.Type, role, e, err)
	}
	if raw, err := choir.Canonicalize(d.Payload); err != nil || !bytes.Equal(raw, e.Payload) {
		t.Fatalf("%s says %s in the log, not %s", d.Type, e.Payload, raw)
	}
}

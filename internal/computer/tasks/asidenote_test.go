package tasks

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/workspace"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

var errKilled = choir.E("choir", choir.CodeUnavailable, "it was killed")

// killed is the workspace and the log of a choir that is killed at its step'th step, and does
// nothing after that. A restore is killed before, in the middle and after.
type killed struct {
	Workspace
	appender.Log
	left int
}

func (k *killed) step() error {
	if k.left--; k.left < 0 {
		return errKilled
	}
	return nil
}

func (k *killed) Scan(ctx context.Context, only ...string) (snapshot.Result, *guest.Client, error) {
	if err := k.step(); err != nil {
		return snapshot.Result{}, nil, err
	}
	return k.Workspace.Scan(ctx, only...)
}

func (k *killed) RestoreTree(ctx context.Context, client *guest.Client, root choir.Digest, opts guest.RestoreOptions) (snapshot.RestoreResult, error) {
	all := opts.Only
	for part := range len(all) + 1 {
		if err := k.step(); err != nil {
			return snapshot.RestoreResult{}, err
		}
		if opts.Only = all[:part]; part > 0 {
			if _, err := k.Workspace.RestoreTree(ctx, client, root, opts); err != nil {
				return snapshot.RestoreResult{}, err
			}
		}
	}
	return snapshot.RestoreResult{}, k.step()
}

func (k *killed) RecordTask(ctx context.Context, now snapshot.Result, reason string, always bool, task *eventstore.Task, cause choir.ID) error {
	if err := k.step(); err != nil {
		return err
	}
	if err := k.Workspace.RecordTask(ctx, now, reason, always, task, cause); err != nil {
		return err
	}
	return k.step()
}

func (k *killed) Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	if err := k.step(); err != nil {
		return nil, err
	}
	receipts, err := k.Log.Append(ctx, role, drafts...)
	if err == nil {
		err = k.step()
	}
	return receipts, err
}

// wherever calls do with a task that worked in the workspace and a choir that is killed at each of
// the steps of holding its result in turn. It reports at how many.
func wherever(t *testing.T, do func(t *testing.T, of *task, dying *Changes) (done bool)) {
	t.Helper()
	for at := range 100 {
		whole := false
		t.Run(fmt.Sprint("step ", at), func(t *testing.T) {
			l := makeLab(t)
			l.Write("one", "before\n")
			l.Write("two", "before\n")
			of := l.start()
			of.call(true, func() { l.WriteOutside("one", "after\n"); l.WriteOutside("new", "after\n") })
			l.Write("two", "owner\n")
			l.WriteOutside("three", "after\n")
			k := &killed{l.Workspace, l.Log, at}
			events := appender.New(k, l.Computer, func() (choir.ID, error) { return workspacetest.NewID(t), nil }, slog.New(slog.DiscardHandler))
			dying := New(l.Computer, l.Data, l.Log, events, l.Keeper, k, workspacetest.Awake{Client: l.Client}, &l.rules, slog.New(slog.DiscardHandler))
			whole = do(t, of, dying)
		})
		if t.Failed() || whole {
			t.Logf("killed at %d steps", at)
			return
		}
	}
}

// hold holds the result of a task.
func hold(ctx context.Context, c *Changes, of *task) (bool, error) {
	return c.TakeAside(ctx, of.TaskID, func(_ context.Context, o Offered) (choir.Payload, bool, error) {
		return choir.EffectHeld{
			Base: o.Task.Base, Snapshot: o.Snapshot, Files: workspace.CountShown(o.Changes), Rules: []string{"x"}, Tools: []string{}, Hosts: []choir.EffectHost{},
			Result: choir.AssociateResult{
				Version: choir.ContractVersion, TaskID: of.TaskID, RunID: of.RunID, Status: choir.StatusOK, Summary: "done",
				FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
				Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
			},
		}, false, nil
	})
}

// A result that is to be held loses nothing, wherever choir is killed: the next choir holds all of
// it, whether the Associate sends the result again or begins the task again.
func TestAKilledChoirLosesNothingOfAResultThatIsHeld(t *testing.T) {
	for _, resent := range []bool{true, false} {
		t.Run(map[bool]string{true: "the result comes again", false: "the task begins again"}[resent], func(t *testing.T) {
			t.Parallel()
			wherever(t, func(t *testing.T, of *task, dying *Changes) bool {
				_, err := hold(of.Within(), dying, of)
				next := of.changesOf(of.Workspace)
				if keeps := must(next.KeepsTree(of.Within()))(t); len(of.All(choir.TypeEffectHeld)) > 0 && keeps {
					t.Error("content is kept beside the log that has it")
				}
				if !resent {
					_, _ = next.Start(of.Within(), of.TaskID, "")
				}
				if len(of.All(choir.TypeEffectHeld)) == 0 {
					if held, err := hold(of.Within(), next, of); !held || err != nil {
						t.Errorf("it is held: %v, %v", held, err)
					}
				}
				of.WantFiles(map[string]string{"one": "before\n", "two": "owner\n"})
				all := of.All(choir.TypeEffectHeld)
				if len(all) != 1 {
					t.Fatalf("the result is held %d times", len(all))
				}
				p := must(choir.ReadPayload(all[0].Type, all[0].Payload))(t).(*choir.EffectHeld)
				for path, want := range map[string]string{"one": "after\n", "new": "after\n", "three": "after\n"} {
					if e := must(of.Lookup(of.Within(), p.Snapshot, path))(t); e == nil || e.Digest() != choir.DigestOf([]byte(want)) {
						t.Errorf("of the work %s is lost: %+v", path, e)
					}
				}
				if keeps := must(next.KeepsTree(of.Within()))(t); keeps {
					t.Error("a note is left")
				}
				return err == nil
			})
		})
	}
}

// Of a failed task that a rule is about nothing stays, wherever choir is killed.
func TestAKilledChoirLeavesNothingOfAFailedTask(t *testing.T) {
	wherever(t, func(t *testing.T, of *task, dying *Changes) bool {
		drop := func(c *Changes) error {
			_, err := c.TakeAside(of.Within(), of.TaskID, func(_ context.Context, o Offered) (choir.Payload, bool, error) {
				changed := map[string]bool{}
				for _, ch := range o.Changes {
					changed[ch.Path] = true
				}
				return nil, maps.Equal(changed, map[string]bool{"one": true, "new": true, "three": true}), nil
			})
			return err
		}
		err := drop(dying)
		of.noError(drop(of.changesOf(of.Workspace)))
		of.WantFiles(map[string]string{"one": "before\n", "two": "owner\n"})
		return err == nil
	})
}

// A task that is rolled back after its result could not be held has another result.
func TestARollbackForgetsTheResult(t *testing.T) {
	wherever(t, func(t *testing.T, of *task, dying *Changes) bool {
		if held, err := hold(of.Within(), dying, of); held || err == nil {
			return true
		}
		if len(of.All(choir.TypeEffectHeld)) > 0 {
			return false
		}
		must(of.Rollback(of.Within(), of.TaskID, nil))(t)
		if held := must(of.FinishAside(of.Within(), of.TaskID))(t); held {
			t.Error("the old result is held")
		}
		return false
	})
}

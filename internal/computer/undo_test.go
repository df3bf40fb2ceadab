package computer

import (
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
)

func TestUndoTakesOneActionBack(t *testing.T) {
	l := newLab(t)
	l.write("a", "1\n2\n3\n4\n5\n6\n7\n8\n")
	l.write("mine", "mine\n")
	before := l.root()
	first := l.commands(choir.TaskEditRepo, "sed -i s/2/two/ a; mkdir -p made/empty; echo x > made/x; chmod 600 mine")
	l.result(first)
	l.result(l.commands(choir.TaskEditRepo, "sed -i s/7/seven/ a; echo later > made/later"))
	head, _ := l.store.Head()
	plan := must(l.Rewinder().Undo(l.within(), choir.RoleCLI, first.TaskID, true))(t)
	if after, _ := l.store.Head(); after != head || len(plan.Changes) == 0 || plan.Receipt.Seq != 0 {
		t.Fatalf("a dry run wrote %d events, %d changes", after-head, len(plan.Changes))
	}
	got := must(l.Rewinder().Undo(l.within(), choir.RoleShell, first.TaskID, false))(t)
	if l.root() != got.To {
		t.Errorf("the workspace is %s, the undo says %s", l.root(), got.To)
	}
	if out := l.sh("cat a; ls made; stat -c %a mine"); out != "1\n2\n3\n4\n5\n6\nseven\n8\nlater\n644\n" {
		t.Errorf("the workspace has\n%s", out)
	}
	undone := l.waitEvent(ofType("timeline.undone"))
	if p := payload[choir.TimelineUndone](t, undone); p.Of != first.TaskID || p.Snapshot != got.To || p.Before != got.From || undone.Source != choir.SourceUser {
		t.Errorf("%+v", p)
	}
	if at := must(l.Moments().Tree(l.within(), undone.Seq))(t); at != got.To {
		t.Errorf("the moment is %s", at)
	}
	if files := must(l.store.Files(l.within(), 0, "made", 10, ""))(t); len(files) != 2 {
		t.Errorf("the log says that there is %+v", files)
	}
	// It can be rewound, and once more there is nothing to undo.
	if again := must(l.Rewinder().Undo(l.within(), choir.RoleShell, first.TaskID, false))(t); len(again.Changes) != 0 || again.Receipt.Seq != 0 {
		t.Errorf("once more it changes %+v", again.Changes)
	}
	rewound(t, l, got.BackSeq)
	if l.root() == before || l.sh("cat made/x") != "x\n" {
		t.Error("the undo could not be rewound")
	}
}

func TestUndoRightAfterwardsIsExact(t *testing.T) {
	l := newLab(t)
	l.sh("mkdir -p d/empty; echo x > d/x; ln -s x d/l; printf o > \"$(printf 'odd\\377')\"; touch -d 2001-01-01 d/x")
	c := l.working()
	before := l.root()
	id, _, _ := c.call("bash", true, "rm -rf d odd*; echo d > d; chmod 600 d; mkdir new")
	if _, err := l.Rewinder().Undo(l.within(), choir.RoleCLI, id, false); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("while the task works: %v", err)
	}
	if _, err := l.Rewinder().Undo(l.within(), choir.RoleCLI, c.task.TaskID, false); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("a task that has not ended: %v", err)
	}
	c.finish()
	if _, err := l.Rewinder().Undo(l.within(), choir.RoleCLI, id, false); err != nil {
		t.Fatal(err)
	}
	for _, ch := range must(l.workspace.Changes(l.within(), before, l.root()))(t) {
		if !workspace.InGit(ch.Path) && ch.Path != "" {
			t.Errorf("it is not as before: %+v", ch)
		}
	}
}

// TestUndoKeepsWhatTheOwnerWroteMeanwhile: an undo takes back what the task did,
// and nothing else that happened while it ran.
func TestUndoKeepsWhatTheOwnerWroteMeanwhile(t *testing.T) {
	l := newLab(t)
	c := l.working()
	c.call("bash", true, "echo task > task")
	l.write("mine/deep", "owner")
	c.finish()
	if _, err := l.Rewinder().Undo(l.within(), choir.RoleCLI, c.task.TaskID, false); err != nil {
		t.Fatal(err)
	}
	if got := l.sh("cat mine/deep; ls"); got != "ownerartifacts\nchoiros\nmine\nworkspace\n" {
		t.Errorf("the workspace has %s", got)
	}
}

// TestAPromptFollowsUpARunThatHasEnded: one that is at work, and one that is not
// there, are refused with the field; a card is put away once, and only at the end.
func TestAPromptFollowsUpARunThatHasEnded(t *testing.T) {
	l := newLab(t)
	l.stop()
	c, bus, err := l.cfg.open(t.Context()) // without a Director, who would end the runs
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	defer c.Close()
	ctx := t.Context()
	prompt := func(after choir.ID) (choir.ID, error) {
		run, _, err := c.Runs().Prompt(ctx, choir.RoleDesktop, choir.PromptSubmitted{Text: "x", After: after}, "")
		return run, err
	}
	refused := func(what string, err error, want choir.Code, path string) {
		t.Helper()
		if p := choir.ProblemOf(err); p == nil || p.Code != want || p.Path != path {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = prompt(newTestID(t))
	refused("after a run that is not there", err, choir.CodeNotFound, "after")
	run := must(prompt(""))(t)
	_, err = prompt(run)
	refused("after a run that is at work", err, choir.CodeConflict, "after")
	refused("its card is put away while it is at work", c.Runs().Dismiss(ctx, choir.RoleDesktop, run), choir.CodeConflict, "")
	_, err = c.Rewinder().Undo(ctx, choir.RoleShell, run, true)
	refused("it is taken back while it is at work", err, choir.CodeConflict, "")
	must(c.events.AppendToRun(ctx, choir.RoleControl, newTestID(t), run, "", choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "Done."}))(t)
	next := must(prompt(run))(t)
	if r := must(c.store.Run(ctx, next))(t); r.After != run || r.Source != choir.SourceDesktop || r.Dismissed {
		t.Errorf("the run is %+v", r)
	}
	for _, role := range []choir.Role{choir.RoleDesktop, choir.RoleShell} {
		if err := c.Runs().Dismiss(ctx, role, run); err != nil {
			t.Errorf("put away by the %s: %v", role, err)
		}
	}
	if !must(c.store.Run(ctx, run))(t).Dismissed {
		t.Error("its card was not put away")
	}
	if read := must(c.Runs().Read(ctx, run))(t); read.Asked.Text != "x" || read.Ended.Answer != "Done." {
		t.Errorf("it reads %+v", read)
	}
	if _, err = c.Runs().Read(ctx, next); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("the end of a run that is at work: %v", err)
	}
}

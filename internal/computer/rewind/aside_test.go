package rewind

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// inTheWay has a file at a moment, which it returns, and since then a folder in its place
// with a file that is too large for a snapshot. Another such file stands in nobody's way.
func inTheWay(t *testing.T) (l *lab, then uint64) {
	t.Helper()
	l = newLab(t, func(cfg *workspace.Config) {
		cfg.Hold = snapshot.Limits{FileBytes: 1000, TreeBytes: 1 << 30, Entries: 1000}
	})
	l.Write("notes", "text\n")
	then = l.Head()
	if _, err := l.RemoveFile(l.Within(), choir.RoleShell, "notes", workspace.Expect{}); err != nil {
		t.Fatal(err)
	}
	l.WriteOutside("notes/deep/large", strings.Repeat("x", 2000))
	l.WriteOutside("notes/kept", "kept\n")
	l.WriteOutside("beside", strings.Repeat("y", 2000))
	return l, then
}

func TestWhatIsInTheWayGoesToTheTrashAndComesBack(t *testing.T) {
	l, then := inTheWay(t)
	before := l.Files("")
	would := must(l.Rewind(l.Within(), choir.RoleCLI, then, true))(t)
	if l.WantFiles(before); len(would.Aside) != 1 || would.Aside[0].From != "notes/deep/large" || would.Aside[0].ID != "" {
		t.Errorf("a dry run: %+v", would.Aside)
	}
	r := l.rewound(then)
	now := l.Files("")
	maps.DeleteFunc(now, func(path, _ string) bool { return strings.HasPrefix(path, ".trash/") })
	if want := map[string]string{"notes": "text\n", "beside": before["beside"]}; !maps.Equal(now, want) {
		t.Errorf("the tree has %q", now)
	}
	if items := must(l.Trash(l.Within()))(t); len(r.Aside) != 1 || len(items) != 1 || items[0].ID != r.Aside[0].ID || items[0].From != "notes/deep/large" {
		t.Errorf("aside are %+v, in the trash %+v", r.Aside, items)
	}
	stays := func(p choir.LeftPath) bool { return p.Path == "beside" }
	if len(r.Left) != 2 || !stays(r.Left[0]) && !stays(r.Left[1]) {
		t.Errorf("left are %+v", r.Left)
	}
	back := l.rewound(r.Receipt.Seq - 1)
	if l.WantFiles(before); len(back.Back) != 1 || back.Back[0].ID != r.Aside[0].ID {
		t.Errorf("back are %+v", back.Back)
	}
}

var errPlan = errors.New("no plan")

// noPlan is a workspace for which no rewind can be planned once something was moved.
type noPlan struct {
	Workspace
	moved bool
}

func (w *noPlan) MoveAside(ctx context.Context, client *guest.Client, paths []string) ([]workspace.Aside, error) {
	w.moved = true
	return w.Workspace.MoveAside(ctx, client, paths)
}

func (w *noPlan) KeepNotes(ctx context.Context, target choir.Digest, now snapshot.Result, back []workspace.Aside) (choir.Digest, error) {
	if w.moved {
		return "", errPlan
	}
	return w.Workspace.KeepNotes(ctx, target, now, back)
}

func TestARewindThatFailsPutsBackWhatItMoved(t *testing.T) {
	l, then := inTheWay(t)
	before := l.Files("")
	l.Rewinder.workspace = &noPlan{Workspace: l.Rewinder.workspace}
	if _, err := l.Rewind(l.Within(), choir.RoleCLI, then, false); !errors.Is(err, errPlan) {
		t.Errorf("%v", err)
	}
	l.WantFiles(before)
	if items := must(l.Trash(l.Within()))(t); len(items) != 0 || len(l.All(choir.TypeTimelineRewound)) != 0 {
		t.Errorf("in the trash are %+v", items)
	}
}

package computer

import (
	"context"
	"io"
	"slices"
	"testing"

	"choiros/internal/blob"
	"choiros/internal/blob/fs"
	"choiros/internal/choir"
	"choiros/internal/computer/moments"
	"choiros/internal/eventstore"
)

// kinds are what marks are, oldest first.
func kinds(marks []moments.Mark) []moments.MarkKind {
	var out []moments.MarkKind
	for _, m := range slices.Backward(marks) {
		out = append(out, m.Kind)
	}
	return out
}

// pagesGive checks that pages of every size give the same marks.
func (l *lab) pagesGive(all []moments.Mark) {
	l.t.Helper()
	for limit := 1; limit <= len(all); limit++ {
		var paged []moments.Mark
		for before := uint64(0); ; {
			page := must(l.Moments().Marks(l.within(), limit, before))(l.t)
			if len(page) == 0 {
				break
			}
			paged, before = append(paged, page...), page[len(page)-1].Seq
		}
		if !slices.EqualFunc(paged, all, func(a, b moments.Mark) bool {
			return a.Seq == b.Seq && a.Checkpoint == b.Checkpoint && a.Text == b.Text
		}) {
			l.t.Errorf("pages of %d give %+v", limit, paged)
		}
	}
}

func TestTheTimelineMarksWhatHappened(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "one\n")
	l.sh("echo by hand > b.txt")
	if r := l.result(l.commands(choir.TaskEditRepo, "echo two > c.txt; echo three > d.txt")); r.Status != choir.StatusOK {
		t.Fatalf("%s %s", r.Code, r.Summary)
	}
	l.result(l.commands(choir.TaskEditRepo, "echo four > e.txt; exit 1"))
	then, _ := l.store.Head()
	if _, err := l.Tasks().Checkpoint(l.within(), choir.RoleShell, "", "mine"); err != nil {
		t.Fatal(err)
	}
	rewound(t, l, then)
	all := must(l.Moments().Marks(l.within(), 100, 0))(t)
	want := []moments.MarkKind{eventstore.MarkFiles, eventstore.MarkOutside, eventstore.MarkTask, eventstore.MarkTask, eventstore.MarkCheckpoint, eventstore.MarkRewind}
	if got := kinds(all); !slices.Equal(got, want) {
		t.Fatalf("the marks are %v, want %v:\n%+v\n%v", got, want, all, l.types())
	}
	slices.Reverse(all)
	if m := all[0]; m.Text != "you changed a.txt" || m.Files != 1 || m.Source != choir.SourceUser {
		t.Errorf("the owner's file: %+v", m)
	}
	if m := all[1]; m.Text != "changed outside of any task: b.txt" || m.Files != 1 {
		t.Errorf("what changed by hand: %+v", m)
	}
	if m := all[2]; m.Files != 2 || m.Checkpoint == "" || m.Text != "x" {
		t.Errorf("the task: %+v", m)
	}
	if m := all[3]; m.Files != 0 || m.Text != "failed and taken back: x" || m.Checkpoint != "" {
		t.Errorf("the task that failed: %+v", m)
	}
	if m := all[4]; m.Text != "mine" || m.Checkpoint == "" {
		t.Errorf("the checkpoint: %+v", m)
	}
	slices.Reverse(all)
	l.pagesGive(all)
	for _, m := range all {
		if _, err := l.Moments().At(l.within(), m.Seq); err != nil {
			t.Errorf("the moment of %+v: %v", m, err)
		}
	}
}

func TestThePastIsReadWithoutTouchingThePresent(t *testing.T) {
	l := newLab(t)
	l.write("dir/a b%25.txt", "then\n")
	l.sh("mkdir -p empty; ln -s nowhere link; mkdir -p repo/.git; echo ref > repo/.git/HEAD")
	l.write("z.txt", "z")
	then, _ := l.store.Head()
	l.write("dir/a b%25.txt", "now\n")
	l.sh("rm -rf repo empty link")
	l.write("z.txt", "zz")
	now := l.root()
	head, _ := l.store.Head()
	look := func(c *Computer) {
		ctx := context.WithoutCancel(l.within())
		m := must(c.Moments().At(ctx, then))(t)
		if m.Seq != then || m.Files != 3 || m.Snapshot == "" || m.Head != head || len(m.Documents)+len(m.Windows)+len(m.Settings) != 0 {
			t.Errorf("the moment is %+v", m)
		}
		state, content, err := c.Workspace().ReadFileAt(ctx, then, "dir/a b%25.txt")
		if err != nil {
			t.Fatal(err)
		}
		if raw := must(io.ReadAll(content))(t); string(raw) != "then\n" || state.Digest != choir.DigestOf(raw) {
			t.Errorf("the file was %q", raw)
		}
		if err := content.Close(); err != nil {
			t.Error(err)
		}
		var names []string
		for _, e := range must(c.Workspace().FolderAt(ctx, then, ""))(t) {
			names = append(names, e.Kind+" "+e.Path)
		}
		if want := []string{"dir artifacts", "dir choiros", "dir dir", "dir empty", "symlink link", "dir repo", "dir workspace", "file z.txt"}; !slices.Equal(names, want) {
			t.Errorf("the workspace had %q, want %q", names, want)
		}
		if list := must(c.Workspace().FolderAt(ctx, then, "repo/.git"))(t); len(list) != 1 || list[0].Path != "repo/.git/HEAD" {
			t.Errorf("the nested repository had %+v", list)
		}
		for path, want := range map[string]choir.Code{
			"none": choir.CodeNotFound, "dir": choir.CodeConflict, "link": choir.CodeConflict, "link/x": choir.CodeRefused, "a%zz": choir.CodeInvalid,
		} {
			if _, _, err := c.Workspace().ReadFileAt(ctx, then, path); choir.CodeOf(err) != want {
				t.Errorf("%q: got %v, want %s", path, err, want)
			}
		}
		for seq, want := range map[uint64]choir.Code{0: choir.CodeInvalid, head + 1000: choir.CodeNotFound, 1 << 60: choir.CodeNotFound} {
			if _, err := c.Moments().At(ctx, seq); choir.CodeOf(err) != want {
				t.Errorf("moment %d: %v", seq, err)
			}
		}
		if _, err := c.Workspace().FolderAt(ctx, 1, ""); choir.CodeOf(err) != choir.CodeNotFound {
			t.Errorf("before the first snapshot: %v", err)
		}
	}
	look(l.Computer)
	if after := l.root(); after != now {
		t.Errorf("looking changed the workspace from %s to %s", now, after)
	}
	if after, _ := l.store.Head(); after != head {
		t.Errorf("looking wrote %d events", after-head)
	}
	l.stop()
	asleep := must(OpenReadOnly(l.within(), Config{
		ID: l.cfg.Computer, User: l.cfg.User, Name: "lab", Dir: l.Computer.cfg.Dir, OpenBlobs: func(dir string) (blob.Store, error) { return fs.Open(dir) },
	}))(t)
	head, _ = asleep.store.Head() // the session ended
	look(asleep)
	if err := asleep.Close(); err != nil {
		t.Error(err)
	}
}

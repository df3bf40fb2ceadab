package snapshot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"choiros/internal/choir"
)

func show(changes []choir.FileChange) []string {
	var out []string
	for _, c := range changes {
		line := string(c.Change) + " " + c.Path
		if c.From != "" {
			line += " from " + c.From
		}
		out = append(out, line)
	}
	return out
}

func TestDiff(t *testing.T) {
	root, k := t.TempDir(), newKeeper(t)
	for _, f := range []string{"same", "touched", "mode", "edited", "deleted", "old/moved", "old/stays", "swap/inner"} {
		write(t, root, f, "content of "+f)
	}
	write(t, root, "empty1", "")
	write(t, root, "becomesdir", "x")
	s := NewScanner(root, ScanConfig{})
	a := keep(t, s, k)
	must(t, os.Chtimes(filepath.Join(root, "touched"), time.Unix(1, 0), time.Unix(1, 0)))
	must(t, os.Chmod(filepath.Join(root, "mode"), 0o755))
	write(t, root, "edited", "other")
	must(t, os.Remove(filepath.Join(root, "deleted")))
	must(t, os.Remove(filepath.Join(root, "empty1")))
	write(t, root, "empty2", "")
	must(t, os.MkdirAll(filepath.Join(root, "new"), 0o755))
	must(t, os.Rename(filepath.Join(root, "old/moved"), filepath.Join(root, "new/place\xff")))
	must(t, os.RemoveAll(filepath.Join(root, "swap")))
	must(t, os.Symlink("same", filepath.Join(root, "swap")))
	must(t, os.Remove(filepath.Join(root, "becomesdir")))
	write(t, root, "becomesdir/in", "y")
	b := keep(t, s, k)
	changes, err := Diff(context.Background(), k, a.Root, b.Root)
	must(t, err)
	want := []string{
		"deleted becomesdir", "added becomesdir/in", "deleted deleted", "modified edited", "deleted empty1", "added empty2",
		"modified mode", "renamed new/place%FF from old/moved", "added swap", "deleted swap/inner",
	}
	if got := show(FileChanges(changes)); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if same, err := Diff(context.Background(), k, a.Root, a.Root); err != nil || len(same) != 0 {
		t.Errorf("a tree differs from itself: %v, %v", same, err)
	}
}

// TestDiffLeadsFromOneTreeToTheOther applies a diff to a flat map of one tree
// and wants the other.
func TestDiffLeadsFromOneTreeToTheOther(t *testing.T) {
	ctx, base, n := context.Background(), memoryDir(t), 0
	flat := func(k *Keeper, root choir.Digest) map[string]Entry {
		all := map[string]Entry{}
		must(t, Walk(ctx, k, root, func(path string, e *Entry) error {
			all[path] = bare(e)
			return nil
		}))
		return all
	}
	rapid.Check(t, func(rt *rapid.T) {
		n++
		root := filepath.Join(base, fmt.Sprint(n))
		must(t, os.Mkdir(root, 0o755))
		defer os.RemoveAll(root)
		k, s := newKeeper(t), NewScanner(root, ScanConfig{})
		for range rapid.IntRange(0, 20).Draw(rt, "grow") {
			mutate(rt, root)
		}
		a := keep(t, s, k)
		for range rapid.IntRange(0, 10).Draw(rt, "change") {
			mutate(rt, root)
		}
		b := keep(t, s, k)
		changes, err := Diff(ctx, k, a.Root, b.Root)
		must(t, err)
		tree := flat(k, a.Root)
		for i := range changes {
			c := &changes[i]
			if c.Kind == choir.ChangeRenamed {
				delete(tree, c.From)
			}
			if c.Kind == choir.ChangeDeleted {
				delete(tree, c.Path)
			}
		}
		for i := range changes {
			if c := &changes[i]; c.After != nil {
				tree[c.Path] = bare(c.After)
			}
		}
		if want := flat(k, b.Root); !reflect.DeepEqual(tree, want) {
			rt.Fatalf("got %v\nwant %v", tree, want)
		}
	})
}

// bare is an entry without its manifest, which depends on what is below.
func bare(e *Entry) Entry {
	c := *e
	if c.Kind == Dir {
		c.Sum = Sum{}
	}
	return c
}

func TestRollbackKeepsWhatTheOwnerWrote(t *testing.T) {
	ctx, root, k := context.Background(), t.TempDir(), newKeeper(t)
	write(t, root, "task", "base")
	write(t, root, "both", "base")
	write(t, root, "owner", "base")
	write(t, root, "dir/task", "base")
	s := NewScanner(root, ScanConfig{})
	base := keep(t, s, k)
	write(t, root, "task", "task")
	write(t, root, "both", "task, then owner")
	write(t, root, "owner", "owner")
	write(t, root, "dir/task", "task")
	write(t, root, "tasks/own/dir/owner", "owner in a folder of the task")
	write(t, root, "tasks/own/junk", "task")
	must(t, os.Rename(filepath.Join(root, "dir/task"), filepath.Join(root, "moved")))
	now := keep(t, s, k)
	changes, err := Diff(ctx, k, base.Root, now.Root)
	must(t, err)
	plan := PlanRollback(changes, []string{"owner", "both", "tasks/own/dir/owner"}, func(p string) bool { return p == "both" })
	if want := []string{"both"}; !reflect.DeepEqual(plan.Conflicts, want) {
		t.Errorf("conflicts %q", plan.Conflicts)
	}
	_, err = s.Restore(ctx, base.Root, k, RestoreOptions{Only: plan.Only()})
	must(t, err)
	var got []string
	must(t, filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			rel, _ := filepath.Rel(root, path)
			content, _ := os.ReadFile(path)
			got = append(got, rel+": "+string(content))
		}
		return err
	}))
	want := []string{"both: task, then owner", "dir/task: base", "owner: owner", "task: base", "tasks/own/dir/owner: owner in a folder of the task"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestRollbackWithAFolderInThePlaceOfAFile(t *testing.T) {
	ctx, root, k := context.Background(), t.TempDir(), newKeeper(t)
	write(t, root, "x", "a file")
	s := NewScanner(root, ScanConfig{})
	base := keep(t, s, k)
	must(t, os.Remove(filepath.Join(root, "x")))
	write(t, root, "x/owner", "owner")
	write(t, root, "x/task", "task")
	now := keep(t, s, k)
	changes, err := Diff(ctx, k, base.Root, now.Root)
	must(t, err)
	plan := PlanRollback(changes, []string{"x/owner"}, nil)
	if !reflect.DeepEqual(plan.Conflicts, []string{"x"}) || !reflect.DeepEqual(plan.Kept, []string{"x", "x/owner"}) {
		t.Errorf("got %+v", plan)
	}
	_, err = s.Restore(ctx, base.Root, k, RestoreOptions{Only: plan.Only()})
	must(t, err)
	left, _ := os.ReadDir(filepath.Join(root, "x"))
	if len(left) != 1 || left[0].Name() != "owner" {
		t.Errorf("left %v", left)
	}
}

func TestRollbackOfEverythingIsARestore(t *testing.T) {
	ctx, root, k := context.Background(), t.TempDir(), newKeeper(t)
	write(t, root, "a/b", "1")
	s := NewScanner(root, ScanConfig{})
	base := keep(t, s, k)
	hash := treeHash(t, root)
	must(t, os.RemoveAll(filepath.Join(root, "a")))
	write(t, root, "c/d/e", "2")
	now := keep(t, s, k)
	changes, err := Diff(ctx, k, base.Root, now.Root)
	must(t, err)
	plan := PlanRollback(changes, nil, nil)
	r, err := s.Restore(ctx, base.Root, k, RestoreOptions{Only: plan.Only()})
	if err != nil || r.Root != base.Root || treeHash(t, root) != hash {
		t.Errorf("got %+v, %v", r, err)
	}
}

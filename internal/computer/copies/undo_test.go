package copies

import (
	"bytes"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/treemerge"
	"choiros/internal/eventstore"
)

// TestAnExportDuringAnUndoIsWhole exports a computer again and again while changes of two files are
// taken back and made again: each export has both files of one side, in its workspace and its log.
func TestAnExportDuringAnUndoIsWhole(t *testing.T) {
	l := newLab(t)
	l.holds(map[string]string{"a.txt": "old\n", "b.txt": "old\n"})
	before := must(l.LastSnapshot(l.Within()))(t)
	l.holds(map[string]string{"a.txt": "new\n", "b.txt": "new\n"})
	after := must(l.LastSnapshot(l.Within()))(t)
	merger := treemerge.New(l.Log, l.Events, l.Workspace, l.Keeper, noTerminals{}, time.Now)
	stop, undone, undos := make(chan struct{}), make(chan error, 1), 0
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				undone <- nil
				return
			default:
			}
			undos = i + 1
			from, to := after, before
			if i%2 == 1 {
				from, to = before, after
			}
			step := treemerge.Step{
				Base: from, Theirs: to, Reason: "undo", Terminal: choir.TerminalUndo, Words: "over",
				Record: func(was, now choir.Digest, files int64) choir.Payload {
					return choir.TimelineUndone{Of: l.Lab.Computer, Before: was, Snapshot: now, Files: files}
				},
			}
			if done, err := merger.Apply(l.Within(), choir.RoleShell, step, false); err != nil || done.Receipt.Seq == 0 {
				undone <- choir.Wrap("undo", choir.CodeInternal, err, "round %d did %d", i, done.Receipt.Seq)
				return
			}
		}
	}()
	for exports := range 8 {
		e := must(l.PrepareExport(l.Within()))(t)
		var file bytes.Buffer
		err := e.Write(l.Within(), &file)
		e.Close()
		if err != nil {
			t.Fatal(err)
		}
		n := newOne(t)
		a, err := n.Import(t.Context(), &file, anyName)
		if err != nil {
			t.Fatalf("export %d: %v", exports, err)
		}
		store := must(eventstore.Open(t.Context(), n.Dir, eventstore.Config{Computer: n.ID, User: n.User, Now: n.Now}))(t)
		one, err := l.Lookup(l.Within(), a.Workspace, "a.txt")
		other, err2 := l.Lookup(l.Within(), a.Workspace, "b.txt")
		files := must(store.Files(t.Context(), 0, "", 0, ""))(t)
		if err != nil || err2 != nil || one.Sum != other.Sum || len(files) != 2 {
			t.Errorf("export %d has %+v and %+v, %v, %v; %+v", exports, one, other, err, err2, files)
		}
		for _, f := range files {
			if f.Digest != one.Digest() {
				t.Errorf("export %d: the log says that %s is %s, the workspace has %s", exports, f.Path, f.Digest, one.Digest())
			}
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	if err := <-undone; err != nil || undos == 0 {
		t.Error(err)
	}
	t.Logf("8 exports during %d undos", undos)
}

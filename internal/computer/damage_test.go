package computer

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// spoil flips a bit in every stored blob that is asked for, while the computer is
// stopped, and starts it again.
func (l *lab) spoil(which func(content []byte) bool) *lab {
	l.t.Helper()
	l.stop()
	spoiled := 0
	err := filepath.WalkDir(filepath.Join(l.cfg.Data, string(l.cfg.Computer), "blobs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || len(d.Name()) != 64 {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil || len(raw) == 0 || !which(raw) {
			return err
		}
		raw[len(raw)-1] ^= 1
		spoiled++
		if err := os.Chmod(path, 0o600); err != nil {
			return err
		}
		return os.WriteFile(path, raw, 0o600)
	})
	if err != nil || spoiled == 0 {
		l.t.Fatalf("%d blobs were spoiled: %v", spoiled, err)
	}
	return openLab(l.t, l.cfg)
}

func isManifest(raw []byte) bool { return bytes.HasPrefix(raw, []byte("choirmf\x01")) }

// TestDamagedFoldersComeBackFromTheWorkspace: one damaged manifest made every scan
// fail, so that no task ever ended.
func TestDamagedFoldersComeBackFromTheWorkspace(t *testing.T) {
	l := newLab(t)
	l.write("a/x.txt", "before\n")
	l.write("b/y.txt", "kept\n")
	l = l.spoil(isManifest)
	r := l.result(l.commands(choir.TaskEditRepo, "echo task > a/x.txt; exit 1"))
	if r.Status != choir.StatusFailed || r.Code != choir.ResultCommandFailed {
		t.Fatalf("got %s %s: %s", r.Status, r.Code, r.Summary)
	}
	if got := l.sh("cat a/x.txt b/y.txt"); got != "before\nkept\n" {
		t.Errorf("the workspace has %q after the rollback", got)
	}
}

// TestWhatCannotBePutBackIsSaid: a task whose base was damaged was delivered again
// for ever, and no other could run.
func TestWhatCannotBePutBackIsSaid(t *testing.T) {
	l := newLab(t)
	l.write("a/x.txt", "before\n")
	task := l.commands(choir.TaskEditRepo, "echo task > a/x.txt; touch /tmp/begun; "+hold+"; exit 1")
	l.made("/tmp/begun")
	l = l.spoil(func(raw []byte) bool { return string(raw) == "before\n" })
	l.sh("touch /tmp/go")
	r := l.result(task)
	if r.Status != choir.StatusFailed || !strings.Contains(r.Summary, "left as the task made it") || !strings.Contains(r.Summary, string(choir.DigestOf([]byte("before\n")))) {
		t.Fatalf("got %s %s: %s", r.Status, r.Code, r.Summary)
	}
	files, err := l.store.Files(l.within(), 0, "a/x.txt", 1, "")
	if err != nil || len(files) != 1 || files[0].Digest != choir.DigestOf([]byte("task\n")) {
		t.Errorf("the log has %+v, %v: not what is there", files, err)
	}
	if r := l.result(l.commands(choir.TaskEditRepo, "echo more > a/z.txt")); r.Status != choir.StatusOK {
		t.Errorf("the next task: %s %s: %s", r.Status, r.Code, r.Summary)
	}
}

// TestAFolderThatIsLostIsComparedWithTheLog: without the last tree nobody could say
// what had changed since.
func TestAFolderThatIsLostIsComparedWithTheLog(t *testing.T) {
	l := newLab(t)
	l.write("a/x.txt", "before\n")
	l.write("a/gone.txt", "gone\n")
	task := l.commands(choir.TaskEditRepo, "echo one > a/one.txt")
	if r := l.result(task); r.Status != choir.StatusOK {
		t.Fatalf("got %s %s: %s", r.Status, r.Code, r.Summary)
	}
	l.sh("rm a/gone.txt; echo mine > a/mine.txt") // not in the log yet
	l = l.spoil(isManifest)
	if r := l.result(l.commands(choir.TaskEditRepo, "echo two > a/two.txt")); r.Status != choir.StatusOK {
		t.Fatalf("the next task: %s %s: %s", r.Status, r.Code, r.Summary)
	}
	files, err := l.store.Files(l.within(), 0, "a/", 100, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimPrefix(f.Path, "a/"))
	}
	if got, want := strings.Join(names, " "), "mine.txt one.txt two.txt x.txt"; got != want {
		t.Errorf("the log has %s, want %s", got, want)
	}
}

package computer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/diskquota"
	"choiros/internal/diskquota/quotatest"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// limitedLab is a computer whose workspace may take 64 MiB and 2,000 entries.
func limitedLab(t *testing.T) (*lab, *diskquota.Project) {
	t.Helper()
	data := filepath.Join(quotatest.Mount(t, "ext4"), "data")
	if err := errors.Join(os.Mkdir(data, 0o711), os.Chmod(data, 0o711)); err != nil {
		t.Fatal(err)
	}
	fs, err := diskquota.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	p, err := diskquota.NewProject(fs, 2_000_200_778, diskquota.Limit{Bytes: 64 << 20, Entries: 2000})
	if err != nil {
		t.Fatal(err)
	}
	return newLab(t, func(cfg *labConfig) { cfg.Data, cfg.Disk = data, p }), p
}

// try runs a command in the Associate's sandbox that may fail.
func (l *lab) try(line string) (exit int, out string) {
	l.t.Helper()
	p := must(l.guest().Exec(l.within(), guest.ExecSpec{Argv: []string{"sh", "-c", line}, Cwd: sandbox.WorkspaceInside}))(l.t)
	var text strings.Builder
	ended := must(p.Wait(&text, &text))(l.t)
	return ended.Code, text.String()
}

// TestDiskLimit has programs in a sandbox take all room that the computer has: its
// log goes on, and stop, start, rewind and deletion work.
func TestDiskLimit(t *testing.T) {
	l, p := limitedLab(t)
	if level, _ := l.Roles().Level(choir.RoleAssociate); strings.Contains(strings.Join(level.Missing, " "), sandbox.NoDiskLimit.Text) {
		t.Errorf("the level says %q", level.Missing)
	}
	l.sh("mkdir -p workspace/a workspace/z; head -c 40M /dev/urandom >workspace/a/old; sha256sum workspace/a/old >/tmp/sum")
	l.write("workspace/keep", "one\n")
	then, _ := l.store.Head()

	// 40 MiB are replaced by others, in a folder that a restore comes to before the
	// one that holds the rest.
	l.sh("head -c 40M /dev/urandom >workspace/a/old")
	if exit, out := l.try("head -c 200M /dev/zero >workspace/z/fill"); exit == 0 || !strings.Contains(out, "quota exceeded") && !strings.Contains(out, "No space") {
		t.Fatalf("200 MiB were written into 64: %d %s", exit, out)
	}
	if exit, out := l.try("for i in $(seq 3000); do : >workspace/z/$i || exit 1; done"); exit == 0 {
		t.Fatalf("3,000 files were made of 2,000: %s", out)
	}
	if use := must(p.Use())(t); use.Bytes > 64<<20 || use.Bytes < 60<<20 || use.Entries > 2000 {
		t.Errorf("%+v", use)
	}
	l.worksWhileFull(p)
	before, _ := l.store.Head()

	l.stop()
	l = openLab(t, l.cfg)
	l.guest()
	l.worksWhileFull(p)

	job := must(l.Rewinder().Start(l.within(), choir.RoleCLI, then))(t)
	if _, err := job.Result(); err != nil {
		t.Fatalf("the rewind of a full computer: %v", err)
	}
	if out := l.sh("ls workspace/z; cat workspace/keep"); out != "one\n" {
		t.Errorf("after the rewind: %q", out)
	}
	if use := must(p.Use())(t); use.Limit.Bytes != 64<<20 || use.Limit.Entries != 2000 || use.Bytes > 42<<20 {
		t.Errorf("after the rewind: %+v", use)
	}
	// And back to the full one.
	if job = must(l.Rewinder().Start(l.within(), choir.RoleCLI, before))(t); job != nil {
		if _, err := job.Result(); err != nil {
			t.Errorf("the rewind of the rewind: %v", err)
		}
	}
	promptly(t, "deleting what fills the disk", func() error {
		_, err := l.Workspace().RemoveFile(l.within(), choir.RoleShell, "workspace/z/fill", workspace.Expect{})
		return err
	})
	if use := must(p.Use())(t); use.Bytes > 42<<20 {
		t.Errorf("after the deletion: %+v", use)
	}
	l.sh("chattr -V -p 0 . 2>/dev/null && exit 1; chattr -P . 2>/dev/null && exit 1; exit 0")
	if held, err := p.Holds(l.workspaceDir()); !held || err != nil {
		t.Errorf("a program in the sandbox took the limit off: %v", err)
	}
}

// worksWhileFull does what must work in a full workspace.
func (l *lab) worksWhileFull(p *diskquota.Project) {
	l.t.Helper()
	head, _ := l.store.Head()
	big := strings.Repeat("x", 1<<20-1)
	if _, err := l.Workspace().WriteFile(l.within(), choir.RoleShell, "workspace/more", strings.NewReader(big), workspace.Expect{}); choir.CodeOf(err) != choir.CodeNoSpace {
		l.t.Errorf("a file of 1 MiB in a full workspace: %v", err)
	}
	// Tasks are accepted, carried out and answered.
	if r := l.result(l.commands(choir.TaskRun, "df . >/dev/null")); r.Status != choir.StatusOK {
		l.t.Errorf("a task that writes nothing: %s %s", r.Code, r.Summary)
	}
	if now, _ := l.store.Head(); now <= head {
		l.t.Errorf("the log went from %d to %d", head, now)
	}
	if use := must(p.Use())(l.t); use.Limit.Bytes != 64<<20 {
		l.t.Errorf("%+v", use)
	}
}

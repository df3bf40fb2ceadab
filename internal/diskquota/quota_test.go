package diskquota_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/diskquota"
	"choiros/internal/diskquota/quotatest"
)

const (
	nobody  = 65534
	project = 2_000_200_777
)

// as runs a command of the shell in a folder as nobody.
func as(dir, line string) (string, error) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// folderOf makes a folder of nobody's.
func folderOf(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.Mkdir(path, 0o700), os.Chown(path, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLimitsHold(t *testing.T) {
	for _, kind := range []string{"ext4", "xfs"} {
		t.Run(kind, func(t *testing.T) { limitsHold(t, quotatest.Mount(t, kind)) })
	}
}

func limitsHold(t *testing.T, dir string) {
	fs, err := diskquota.Open(filepath.Join(dir, "yet", "to", "be", "made"))
	if err != nil {
		t.Fatal(err)
	}
	limit := diskquota.Limit{Bytes: 8 << 20, Entries: 100}
	p, err := diskquota.NewProject(fs, project, limit)
	if err != nil {
		t.Fatal(err)
	}
	held, free, filled := folderOf(t, dir, "held"), folderOf(t, dir, "free"), folderOf(t, dir, "filled")
	for range 2 {
		if err := p.Hold(held); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := as(filled, "touch x"); err != nil {
		t.Fatal(err)
	}
	if err := p.Hold(filled); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("a folder that was filled before: %v", err)
	}
	for folder, want := range map[string]bool{held: true, free: false, filled: false} {
		if is, err := p.Holds(folder); is != want || err != nil {
			t.Errorf("%s is held: %v, %v", folder, is, err)
		}
	}
	// Entries first: where all blocks are taken a folder may not grow.
	overflow(t, held, free, "for i in $(seq 200); do : >e$i || exit 1; done")
	if use, err := p.Use(); err != nil || use.Limit != limit || use.Entries > 100 || use.Entries < 99 {
		t.Errorf("%+v, %v", use, err)
	}
	if out, err := as(held, "find . -name 'e??*' -delete"); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	overflow(t, held, free, "mkdir -p a/b && head -c 20M /dev/zero >a/b/fill")
	if use, err := p.Use(); err != nil || use.Bytes > limit.Bytes || use.Bytes < limit.Bytes-(1<<20) {
		t.Errorf("%+v, %v", use, err)
	}
	widen(t, p, held, limit)
	tryToLeave(t, p, held)
	if _, err := as(held, "rm -rf a e*"); err != nil {
		t.Fatal(err)
	}
	if use, err := p.Use(); err != nil || use.Bytes > 1<<20 || use.Entries > 10 {
		t.Errorf("after the removal: %+v, %v", use, err)
	}
}

// overflow does what is over the limit in one folder, and beside it.
func overflow(t *testing.T, held, free, line string) {
	t.Helper()
	if out, err := as(held, line); err == nil || !strings.Contains(out, "quota exceeded") && !strings.Contains(out, "No space") {
		t.Errorf("%s: %v %s", line, err, out)
	}
	if out, err := as(free, line); err != nil {
		t.Errorf("%s without a limit: %v %s", line, err, out)
	}
}

// widen writes as much as the limit beside what is there.
func widen(t *testing.T, p *diskquota.Project, held string, limit diskquota.Limit) {
	t.Helper()
	const more = "head -c 6M /dev/zero >e1"
	if _, err := as(held, more); err == nil {
		t.Error("it took more without being widened")
	}
	first, err := p.Widen()
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.Widen()
	if err == nil {
		err = second()
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := as(held, more); err != nil {
		t.Errorf("widened: %v %s", err, out)
	}
	if err := errors.Join(first(), first()); err != nil {
		t.Fatal(err)
	}
	if use, err := p.Use(); err != nil || use.Limit != limit {
		t.Errorf("%+v, %v", use, err)
	}
	if _, err := as(held, "head -c 6M /dev/zero >e3"); err == nil {
		t.Error("it took more once the limit was as before")
	}
}

// tryToLeave tries to give files to no project, as their owner: inside a user namespace
// that is refused.
func tryToLeave(t *testing.T, p *diskquota.Project, held string) {
	t.Helper()
	for _, line := range []string{"chattr -p 0 e2", "chattr -P .", "chattr -p 0 ."} {
		if out, err := as(held, "unshare -U true && unshare -U "+line); err == nil || !strings.Contains(out, "Invalid argument") && !strings.Contains(out, "ermi") {
			t.Errorf("%s in a user namespace: %v %s", line, err, out)
		}
	}
	if is, err := p.Holds(held); !is || err != nil {
		t.Errorf("it was let go: %v", err)
	}
	if out, err := as(held, "chattr -p 0 e2"); err != nil {
		t.Errorf("the control, without a user namespace: %v %s", err, out)
	}
}

// TestWhatIsMissing mounts what can hold no limits yet.
func TestWhatIsMissing(t *testing.T) {
	dir := quotatest.Mount(t, "ext4", "rw")
	_, err := diskquota.Open(dir)
	var e *choir.Error
	if !errors.As(err, &e) || e.Code != choir.CodeUnavailable || !strings.Contains(e.Msg, "mounted without project quotas") || strings.Contains(e.Remedy, "tune2fs") || !strings.Contains(e.Remedy, "mount -o prjquota /dev/loop") {
		t.Errorf("%v: %+v", err, e)
	}
}

package sandboxtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"

	"golang.org/x/sys/unix"
)

// trapNames are names at which a careless start could mount something below a workspace.
var trapNames = []string{"workspace", "choiros", "artifacts", "doors", "run", "opt", "proc", "sys", "dev", "tmp", "etc", "usr", "home"}

// linksAreNotFollowed starts a sandbox on a workspace in which an earlier one left links to a folder
// of the host at every name where something could be mounted (CVE-2021-30465, CVE-2024-42472).
func (s suite) linksAreNotFollowed(t *testing.T) {
	bait := filepath.Join(DataDir(t), "bait")
	if err := os.Mkdir(bait, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bait, "f"), []byte(secret), 0o644); err != nil {
		t.Fatal(err)
	}
	first := s.create(t, choir.RoleAssociate, nil)
	folder := first.spec.WorkspaceFolder()
	if folder == "" {
		t.Skip("the workspace is in no folder of the host")
	}
	was := first.mounts(t)
	out := first.run(t, append([]string{"/bin/sh", "-c", `cd /workspace; for n; do rm -rf "$n"; ln -s "$0" "$n" || exit 1; done`, bait}, trapNames...)...)
	if out.Exit.Code != 0 {
		t.Fatalf("the links were not made: %s", out.Stderr)
	}
	destroy(t, first)
	before := statOf(t, bait)
	b, err := s.driver.Create(timeout(t), first.spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { destroy(t, b) })
	second := s.inside(t, b, first.spec)
	for _, name := range trapNames {
		if _, err := os.Stat(filepath.Join(folder, name, "f")); err != nil {
			t.Fatalf("the control, a program of the host that follows the link: %v", err)
		}
		second.refused(t, invisible, "read", filepath.Join(sandbox.WorkspaceInside, name, "f"))
	}
	if now := second.mounts(t); !slices.Equal(now, was) {
		t.Errorf("the mounts are %q and were %q", now, was)
	}
	if entries, err := os.ReadDir(bait); err != nil || len(entries) != 1 || statOf(t, bait) != before {
		t.Errorf("the folder behind the links has %v, %v, and was changed: %v", entries, err, statOf(t, bait) != before)
	}
}

// owned has the facts about a folder that a start could change.
type owned struct {
	mode, uid, gid uint32
	changed        unix.Timespec
}

func statOf(t *testing.T, path string) owned {
	t.Helper()
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		t.Fatal(err)
	}
	return owned{s.Mode, s.Uid, s.Gid, s.Ctim}
}

// mounts returns where something is mounted inside.
func (b inside) mounts(t *testing.T) []string {
	t.Helper()
	var at []string
	for line := range strings.Lines(value[string](t, b.probe(t, "read", "/proc/self/mountinfo"))) {
		if fields := strings.Fields(line); len(fields) > 4 {
			at = append(at, fields[4])
		}
	}
	slices.Sort(at)
	return at
}

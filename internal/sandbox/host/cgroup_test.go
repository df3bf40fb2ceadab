package host

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/sandbox"

	"github.com/google/go-cmp/cmp"
)

func TestParseHierarchies(t *testing.T) {
	for _, c := range []struct {
		name, mountinfo, cgroup string
		want                    []hierarchy
	}{
		{
			name:      "version 1 in a container, whose root is not the hierarchy's",
			mountinfo: "30 25 0:26 /docker/ab /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n",
			cgroup:    "4:cpu,cpuacct:/docker/ab/inner\n0::/\n",
			want:      []hierarchy{{version: 1, controllers: []string{"rw", "cpu", "cpuacct"}, own: "/sys/fs/cgroup/cpu,cpuacct/inner", top: "/sys/fs/cgroup/cpu,cpuacct"}},
		},
		{
			name:      "version 2 under systemd, with optional fields",
			mountinfo: "29 23 0:25 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
			cgroup:    "0::/user.slice/user-1000.slice/choir.scope\n",
			want:      []hierarchy{{version: 2, own: "/sys/fs/cgroup/user.slice/user-1000.slice/choir.scope", top: "/sys/fs/cgroup"}},
		},
		{
			name:      "mounted from elsewhere than where we are",
			mountinfo: "29 23 0:25 /other /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			cgroup:    "0::/here\n",
		},
		{name: "no cgroups", mountinfo: "22 1 254:0 / / rw - ext4 /dev/vda rw\n", cgroup: ""},
		{name: "malformed", mountinfo: "x - cgroup\n\n - \n", cgroup: "1:pids\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := parseHierarchies(c.mountinfo, c.cgroup)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(hierarchy{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// fakeV2 lays out files as the kernel would. It shows what is written where;
// what the kernel makes of it is shown where version 2 has controllers.
func fakeV2(t *testing.T, offered string) string {
	dir := t.TempDir()
	for name, text := range map[string]string{"cgroup.controllers": offered, "cgroup.subtree_control": "", "cgroup.procs": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestV2HandsDownWhatIsNeeded(t *testing.T) {
	dir := fakeV2(t, "cpuset cpu io memory pids\n")
	if err := handDown(dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	if err != nil || string(got) != "+pids +memory +cpu" {
		t.Errorf("%q, %v", got, err)
	}
	if err := handDown(fakeV2(t, "cpuset cpu io\n")); err == nil {
		t.Error("a group without the memory controller was taken")
	}
}

func TestV2FallsBackToTheTop(t *testing.T) {
	top := fakeV2(t, "cpu memory pids\n")
	l := newV2([]hierarchy{{version: 2, own: fakeV2(t, "cpu\n"), top: top}}, "choir-test")
	if l == nil || l.prefix != filepath.Join(top, "choir-test-") {
		t.Fatalf("%+v", l)
	}
	got, err := os.ReadFile(filepath.Join(top, "cgroup.subtree_control"))
	if err != nil || string(got) != "+pids +memory +cpu" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestV2DoesNotGoDeeperWithEachLook has a control plane that stepped aside look
// again, as each choir doctor makes it do.
func TestV2DoesNotGoDeeperWithEachLook(t *testing.T) {
	scope := fakeV2(t, "cpu memory pids\n")
	aside := filepath.Join(scope, "choir-control")
	if err := errors.Join(os.WriteFile(filepath.Join(scope, "cgroup.subtree_control"), []byte("cpu memory pids\n"), 0o600), os.CopyFS(aside, os.DirFS(fakeV2(t, "cpu memory pids\n")))); err != nil {
		t.Fatal(err)
	}
	l := newV2([]hierarchy{{version: 2, own: aside, top: scope}}, "choir-test")
	if l == nil || l.prefix != filepath.Join(scope, "choir-test-") {
		t.Errorf("%+v", l)
	}
}

func TestV2RefusesWhereNothingIsOffered(t *testing.T) {
	if l := newV2([]hierarchy{{version: 2, own: fakeV2(t, "")}}, "choir-test"); l != nil {
		t.Errorf("%+v", l)
	}
	if l := newV2(nil, "choir-test"); l != nil {
		t.Errorf("%+v", l)
	}
}

// TestV2ChildIsBornInTheGroup uses the real version 2 file system, for which no
// controller is needed.
func TestV2ChildIsBornInTheGroup(t *testing.T) {
	g := realV2(t)
	var cmd *exec.Cmd
	err := g.Start(func(attr *syscall.SysProcAttr) error {
		cmd = exec.Command("/bin/sleep", "60")
		cmd.SysProcAttr = attr
		return cmd.Start()
	})
	if err != nil {
		t.Fatal(err)
	}
	if pids, err := g.Processes(); err != nil || len(pids) != 1 || pids[0] != cmd.Process.Pid {
		t.Errorf("the group holds %v, not %d", pids, cmd.Process.Pid)
	}
	if err := KillAll(t.Context(), g); err != nil {
		t.Error(err)
	}
	cmd.Wait() // it was killed
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
	if err := g.Remove(); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func realV2(t *testing.T) *v2Group {
	for _, h := range hierarchies() {
		dir := filepath.Join(h.own, "choir-v2-test-"+strconv.Itoa(os.Getpid()))
		if h.version == 2 && os.Mkdir(dir, 0o755) == nil {
			t.Cleanup(func() { syscall.Rmdir(dir) })
			return &v2Group{dir: dir}
		}
	}
	t.Skip("no cgroup v2 that this user may write is mounted")
	return nil
}

func TestUsageMillis(t *testing.T) {
	if got := usageMillis("usage_usec 1234567\nuser_usec 1\n"); got != 1234 {
		t.Error(got)
	}
	if got := usageMillis(""); got != 0 {
		t.Error(got)
	}
}

// TestSweepKeepsTheLiving checks that only empty groups are swept.
func TestSweepKeepsTheLiving(t *testing.T) {
	l := newV1(hierarchies(), "choir-sweep-test-"+strconv.Itoa(os.Getpid()))
	if l == nil {
		t.Skip("no cgroup v1 that this user may write is mounted")
	}
	empty, err := l.Create("empty", sandbox.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	living, err := l.Create("living", sandbox.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sleep", "60")
	if err := living.Start(func(a *syscall.SysProcAttr) error { cmd.SysProcAttr = a; return cmd.Start() }); err != nil {
		t.Fatal(err)
	}
	l.Sweep()
	for _, dir := range empty.Folders() {
		if isDir(dir) {
			t.Errorf("%s was not swept", dir)
		}
	}
	if pids, err := living.Processes(); err != nil || len(pids) != 1 {
		t.Errorf("the living group holds %v, %v", pids, err)
	}
	if own, err := os.ReadFile("/proc/thread-self/cgroup"); err != nil || strings.Contains(string(own), "choir-sweep") {
		t.Errorf("a thread of ours stayed in the group: %s %v", own, err)
	}
	if err := KillAll(t.Context(), living); err != nil {
		t.Error(err)
	}
	cmd.Wait() // it was killed
	if err := living.Remove(); err != nil {
		t.Error(err)
	}
}

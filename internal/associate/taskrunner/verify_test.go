package taskrunner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// fixture makes workspace/app a repository with the files of testdata.
func (l *lab) fixture(name string) {
	l.Helper()
	if out, err := exec.Command("cp", "-r", filepath.Join("testdata", name), filepath.Join(l.dir, "workspace/app")).CombinedOutput(); err != nil {
		l.Fatal(string(out))
	}
	l.repo(nil)
}

func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not on this machine", p)
		}
	}
}

func TestVerificationIsDiscovered(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct {
		programs []string
		touch    string // the task changes this file
		proves   string
	}{
		"go": {[]string{"go"}, "sum.go", "1 test ran, none new, none removed"}, "node": {[]string{"node", "npm"}, "sum.js", "1 test ran, none new, none removed"},
		"rust": {[]string{"cargo"}, "src/lib.rs", "1 test ran, none new, none removed"}, "python": {[]string{"python3"}, "total.py", "1 test ran, none new, none removed"},
		"make": {[]string{"make"}, "sum.sh", "the command ended well; it does not say how many tests ran"},
	} {
		for _, mode := range []string{"pass", "break", "fail"} {
			t.Run(kind+" "+mode, func(t *testing.T) {
				t.Parallel()
				need(t, c.programs...)
				l := newLab(t)
				l.fixture(filepath.Join(kind, strings.Replace(mode, "break", "pass", 1)))
				before := l.hash()
				change := sh("echo >> " + c.touch)
				if mode == "break" {
					change = sh("sed -i s/+/-/ " + c.touch)
				}
				r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", Commands: change})
				if mode == "fail" {
					// It failed before the task too, which is not to blame.
					holds(t, r, choir.StatusOK, "")
					if r.Verify.Status != choir.VerifyUnknown || !strings.Contains(r.Verify.Log, "failed before the change too") || r.Checkpoint == nil {
						t.Errorf("verify %+v, checkpoint %v", r.Verify, r.Checkpoint)
					}
					return
				}
				if mode == "break" {
					holds(t, r, choir.StatusFailed, choir.ResultVerifyFailed)
					if r.Verify.Status != choir.VerifyFail || r.Diff == nil || len(r.FilesChanged) != 1 || l.hash() != before || r.Checkpoint != nil {
						t.Errorf("verify %+v, files %v, tree changed %v", r.Verify, r.FilesChanged, l.hash() != before)
					}
					return
				}
				holds(t, r, choir.StatusOK, "")
				if r.Verify.Status != choir.VerifyPass || r.Verify.Proves != c.proves || r.Checkpoint == nil || len(r.FilesChanged) != 1 {
					t.Errorf("verify %+v, files %v, checkpoint %v", r.Verify, r.FilesChanged, r.Checkpoint)
				}
				if cp := of[choir.CheckpointCreated](t, l.log, r.TaskID); len(cp) != 1 || !cp[0].Verified {
					t.Errorf("checkpoint %+v", cp)
				}
				if left := l.git("workspace/app", "status", "--short"); left != "" {
					t.Errorf("the check left something behind: %s", left)
				}
			})
		}
	}
}

func TestAPlainProjectIsUnknownUnlessChecksAreGiven(t *testing.T) {
	t.Parallel()
	given := func(c string) *choir.VerifyProfile {
		return &choir.VerifyProfile{Mode: choir.VerifySmoke, Commands: sh(c)}
	}
	for _, c := range []struct {
		name    string
		fixture string
		profile *choir.VerifyProfile
		code    choir.ResultCode
		verify  choir.VerifyStatus
	}{
		{"nothing given", "pass", nil, "", choir.VerifyUnknown},
		{"full", "pass", &choir.VerifyProfile{Mode: choir.VerifyFull}, "", choir.VerifyUnknown},
		{"given, passes", "pass", given("grep -q 'make 3' notes.txt"), "", choir.VerifyPass},
		{"given, fails", "fail", given("grep -q 'make 3' notes.txt"), choir.ResultVerifyFailed, choir.VerifyFail},
		{"none", "fail", &choir.VerifyProfile{Mode: choir.VerifyNone, Commands: sh("false")}, "", choir.VerifyUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.fixture("plain/" + c.fixture)
			r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: c.profile, Commands: sh("echo more >> notes.txt")})
			if r.Code != c.code || r.Verify.Status != c.verify || (r.Checkpoint == nil) != (c.code != "") {
				t.Errorf("%s %+v", r.Code, r.Verify)
			}
		})
	}
}

func TestAMissingToolIsUnknownWithTheReason(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.fixture("rust/fail")
	bin := t.TempDir()
	for _, p := range []string{"git", "sh"} {
		full, err := exec.LookPath(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(full, filepath.Join(bin, p)); err != nil {
			t.Fatal(err)
		}
	}
	l.runner.Close()
	l.env[0] = "PATH=" + bin
	l.start()
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", Commands: sh("echo >> src/lib.rs")})
	holds(t, r, choir.StatusOK, "")
	if r.Verify.Status != choir.VerifyUnknown || !strings.Contains(r.Verify.Log, "cargo is not on this machine") {
		t.Errorf("%+v", r.Verify)
	}
}

func TestWhatAChecksLeavesIsNoPartOfTheChange(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"Makefile": "test:\n\techo dropped > dropping; echo log > x.log; echo also >> tracked; test -f mine\n", "tracked": "1\n", ".gitignore": "*.log\n"})
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", Commands: sh("echo m > mine")})
	holds(t, r, choir.StatusOK, "")
	if got := l.git("workspace/app", "show", "--name-only", "--format=", "HEAD"); got != "mine" || l.git("workspace/app", "status", "--short") != "" {
		t.Errorf("committed %q, left %q", got, l.git("workspace/app", "status", "--short"))
	}
	if l.read("workspace/app/tracked") != "1\n" || l.read("workspace/app/x.log") != "log\n" {
		t.Errorf("tracked %q, ignored %q", l.read("workspace/app/tracked"), l.read("workspace/app/x.log"))
	}
}

func TestWhatACheckLeavesRunningCannotSpoilTheRollback(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("workspace/x", "1")
	before := l.hash()
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Commands: sh("echo 2 > workspace/x"), VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifySmoke,
		Commands: sh("setsid sh -c 'while :; do echo 3 >> workspace/x; done' > /dev/null 2>&1 & i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 1")}})
	holds(t, r, choir.StatusFailed, choir.ResultVerifyFailed)
	if l.hash() != before || r.Usage.CPUMS < 10 {
		t.Errorf("tree changed: %v, usage %+v", l.hash() != before, r.Usage)
	}
}

func TestATimeBudgetCountsVerificationToo(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	before := l.hash()
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, TimeBudgetS: 1, Commands: sh("echo x > workspace/x"),
		VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifySmoke, Commands: sh("echo checking; sleep 100")}})
	holds(t, r, choir.StatusFailed, choir.ResultTimeBudget)
	if l.hash() != before || len(r.Verify.Commands) != 1 || r.Verify.Commands[0].StdoutTail != "checking\n" {
		t.Errorf("%+v", r.Verify)
	}
}

// What looks well and is not is kept as unverified, and says why.
func TestATaskThatEmptiesItsTestIsSuspect(t *testing.T) {
	t.Parallel()
	need(t, "go")
	l := newLab(t)
	l.fixture("go/pass")
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", Commands: sh("sed -i s/+/-/ sum.go; sed -i '/if /,/}/d' sum_test.go")})
	holds(t, r, choir.StatusOK, "")
	v := r.Verify
	if v.Status != choir.VerifyUnknown || len(v.Suspect) != 2 || len(v.JudgedBy) != 1 || v.JudgedBy[0] != "sum_test.go" || len(v.Commands) != 1 {
		t.Errorf("%+v\n%s", v, l.read("workspace/app/sum_test.go"))
	}
	if cp := of[choir.CheckpointCreated](t, l.log, r.TaskID); len(cp) != 1 || cp[0].Verified {
		t.Errorf("checkpoint %+v", cp)
	}
}

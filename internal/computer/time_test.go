package computer

import (
	"archive/tar"
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/dispatch"
	"choiros/internal/computer/projects"
	"choiros/internal/computer/rewind"
)

func TestARewindIsExactAndCanBeRewound(t *testing.T) {
	l := newLab(t)
	l.write("a/x.txt", "one\n")
	l.sh("mkdir -p e/mpty; ln -s x.txt a/link; mkfifo a/pipe; chmod 4640 a/x.txt; touch -d 2001-01-01T00:00:00.123456789 a/link a -h; printf 'odd' > \"$(printf 'new\\nline')\"")
	task := l.commands(choir.TaskEditRepo, "echo two > b.txt")
	if r := l.result(task); r.Status != choir.StatusOK {
		t.Fatalf("%s %s", r.Code, r.Summary)
	}
	then, _ := l.store.Head()
	before := l.root()
	l.sh("rm -rf e a/link a/pipe; echo three > a/x.txt; mkdir -p f/g; echo x > f/g/h; rm new*")
	after := l.root()
	if _, err := l.Rewinder().Rewind(l.within(), choir.RoleCLI, 0, false); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("to nowhere: %v", err)
	}
	d, err := l.Rewinder().Rewind(l.within(), choir.RoleCLI, then, true)
	if err != nil || d.Receipt.Seq != 0 || len(d.Changes) == 0 || l.root() != after {
		t.Fatalf("a dry run: %v, %d changes, event %d", err, len(d.Changes), d.Receipt.Seq)
	}
	r := rewound(t, l, then).Receipt
	if now := l.root(); now != before {
		t.Fatalf("the workspace is %s, it was %s", now, before)
	}
	rewound(t, l, r.Seq-1)
	if now := l.root(); now != after {
		t.Fatalf("the rewind of the rewind gives %s, not %s", now, after)
	}
	diff := must(l.Moments().DiffFiles(l.within(), then, 0))(t)
	files, cut, err := l.Moments().TextDiff(l.within(), diff)
	if err != nil || cut {
		t.Fatal(err)
	}
	found := false
	for _, f := range files {
		found = found || f.Path == "a/x.txt" && strings.Contains(f.Diff, "-one\n+three\n")
	}
	if !found {
		t.Errorf("the diff says %+v", files)
	}
}

func rewound(t *testing.T, l *lab, to uint64) rewind.Rewound {
	t.Helper()
	return must(l.Rewinder().Rewind(l.within(), choir.RoleCLI, to, false))(t)
}

func TestAutoCheckpointsSayWhoAndWhy(t *testing.T) {
	for trigger, limits := range map[string]dispatch.AutoCheckpoint{"count": {Tasks: 2, Every: time.Hour}, "time": {Tasks: 1000, Every: 300 * time.Millisecond}} {
		t.Run(trigger, func(t *testing.T) {
			l := newLab(t, func(cfg *labConfig) { cfg.AutoCheckpoint = limits })
			l.write("x", "1")
			for range 2 {
				l.result(l.commands(choir.TaskRun, "true"))
			}
			made := l.waitEvent(ofType("checkpoint.created"))
			if p := payload[choir.CheckpointCreated](t, made); p.Trigger != trigger {
				t.Errorf("trigger %q", p.Trigger)
			}
			var asked choir.Event
			for _, e := range l.all("task.dispatched") {
				if e.Task == made.Task {
					asked = e
				}
			}
			if asked.Source != choir.SourceSystem {
				t.Errorf("it was asked for by %q", asked.Source)
			}
		})
	}
}

// archive is a tar stream of files; a name that ends with / is a folder.
func archive(t *testing.T, files ...[2]string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f[0], Mode: 0o755, Size: int64(len(f[1])), Typeflag: tar.TypeReg}
		if strings.HasSuffix(f[0], "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

func TestAHostileProjectRunsNothingOnTheHost(t *testing.T) {
	l := newLab(t)
	canary := "/tmp/choir-canary-" + string(newTestID(t)) // a folder of both the host and the sandbox
	evil := "#!/bin/sh\necho ran > " + canary + "\n"
	run := "\"sh -c 'echo > " + canary + "; cat'\""
	config := "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = " + run + "\n\thooksPath = hooks\n\tpager = " + run + "\n\tsshCommand = " + run +
		"\n[filter \"x\"]\n\tclean = " + run + "\n\tsmudge = " + run + "\n\trequired = true\n[diff \"x\"]\n\ttextconv = " + run + "\n"
	stream := archive(t, [2]string{".git/", ""}, [2]string{".git/HEAD", "ref: refs/heads/main\n"}, [2]string{".git/config", config}, [2]string{".git/refs/", ""}, [2]string{".git/objects/", ""},
		[2]string{".git/hooks/pre-commit", evil}, [2]string{".git/hooks/post-checkout", evil}, [2]string{"hooks/pre-commit", evil},
		[2]string{".gitattributes", "* filter=x diff=x\n"}, [2]string{"a.txt", "a\n"})
	added, err := l.Projects().Add(l.within(), choir.RoleCLI, projects.NewProject{Name: "evil", Commit: &projects.FirstCommit{Message: "x", At: time.Unix(1, 0)}}, stream)
	if err != nil {
		t.Fatal(err)
	}
	task := l.commands(choir.TaskEditRepo, "echo b > workspace/evil/a.txt")
	l.result(task)
	var out bytes.Buffer
	if err := l.Projects().Export(l.within(), choir.RoleCLI, "evil", "patch", &out); err != nil && choir.CodeOf(err) == choir.CodeInternal {
		t.Errorf("export: %v", err)
	}
	if l.sh("ls "+canary) == "" {
		t.Error("nothing ran at all, so this shows nothing")
	}
	if _, err := os.Lstat(canary); err == nil {
		t.Error("the project's own program ran on the host")
	}
	if added.Files != 3 {
		t.Errorf("%+v", added)
	}
}

func TestWhatIsExportedCanBePulled(t *testing.T) {
	l := newLab(t)
	repo := projects.NewProject{Name: "p", Commit: &projects.FirstCommit{Message: "Begin", At: time.Unix(1e9, 0)}}
	if _, err := l.Projects().Add(l.within(), choir.RoleCLI, repo, archive(t, [2]string{"a.txt", "a\n"})); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := l.Projects().Export(l.within(), choir.RoleCLI, "p", "patch", &out); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("nothing was done yet: %v", err)
	}
	before, _ := l.store.Head()
	if r := l.result(l.commands(choir.TaskEditRepo, "echo b > workspace/p/b.txt")); r.Status != choir.StatusOK {
		t.Fatalf("%s %s", r.Code, r.Summary)
	}
	after, _ := l.store.Head()
	was, is := must(l.Moments().At(l.within(), before))(t), must(l.Moments().At(l.within(), after))(t)
	if is.Snapshot == was.Snapshot || is.Files != was.Files+1 {
		t.Errorf("of %d files and one more there are %d: git's are counted", was.Files, is.Files)
	}
	if err := l.Projects().Export(l.within(), choir.RoleCLI, "p", "patch", &out); err != nil || !strings.Contains(out.String(), "+b\n") {
		t.Errorf("patch: %v %s", err, out.String())
	}
	out.Reset()
	if err := l.Projects().Export(l.within(), choir.RoleCLI, "p", "bundle", &out); err != nil || !strings.HasPrefix(out.String(), "# v2 git bundle") {
		t.Errorf("bundle: %v %.40q", err, out.String())
	}
	l.sh("mv workspace/p/.git/HEAD /tmp/HEAD; mkfifo workspace/p/.git/HEAD; rm workspace/p/.git/HEAD; mv /tmp/HEAD workspace/p/.git/HEAD")
	if err := l.Projects().Export(l.within(), choir.RoleCLI, "p", "zip", &out); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("zip: %v", err)
	}
}

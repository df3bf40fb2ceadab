package computer

import (
	"fmt"
	"os"
	"testing"
	"time"

	"choiros/internal/choir"
)

// largeTrees makes these tests as large as the limits that are promised; the
// soak sets it.
const largeTrees = "CHOIR_TEST_LARGE"

// sized is a quick size, or the promised one.
func sized(quick, promised int) int {
	if os.Getenv(largeTrees) != "" {
		return promised
	}
	return quick
}

// checkpointed makes a checkpoint, however long that takes: Checkpoint tells a person
// after two minutes that it goes on.
func (l *lab) checkpointed(subject string) {
	l.t.Helper()
	task := must(l.Tasks().NewTask(choir.DirectorTask{
		Kind: choir.TaskGit, GitAction: choir.GitCheckpoint, GitArgs: []string{subject}, Instruction: "Make a checkpoint.",
	}))(l.t)
	must(l.Tasks().Submit(l.within(), choir.RoleShell, task))(l.t)
	if took := must(l.Tasks().Wait(l.within(), task.TaskID))(l.t); took.Checkpoint == nil {
		l.t.Fatalf("no checkpoint: %s %s", took.Code, took.Summary)
	}
}

// TestManyFilesGoBack spoils a tree of 200,000 files (fewer without the
// variable) and goes back.
func TestManyFilesGoBack(t *testing.T) {
	l := newLab(t)
	l.wait = 20 * time.Minute
	files := sized(3_000, 200_000)
	l.sh(fmt.Sprintf(`mkdir -p many; cd many; i=0; while [ $i -lt %d ]; do mkdir $i; cd $i; seq -f "%%05g" %d | xargs touch; for f in *; do echo $i/$f > $f; done; cd ..; i=$((i+1)); done`, files/500, 500))
	l.checkpointed("many files")
	then, _ := l.store.Head()
	before := l.treeHash()
	l.sh(`cd many; rm -r 1 3; mv 5 moved; for d in 0 2 4; do echo spoiled > $d/00007; chmod 600 $d/00008; done; echo new > new`)
	if l.treeHash() == before {
		t.Fatal("nothing was changed, so this shows nothing")
	}
	began := time.Now()
	rewound(t, l, then)
	t.Logf("%d files: went back in %v", files, time.Since(began))
	if after := l.treeHash(); after != before {
		t.Errorf("the tree is\n%s\nit was\n%s", after, before)
	}
}

// TestALargeFileGoesBack changes one byte in the middle of a file of 2 GiB (less
// without the variable), and goes back.
func TestALargeFileGoesBack(t *testing.T) {
	l := newLab(t)
	l.wait = 20 * time.Minute
	mib := sized(16, 2048)
	l.sh(fmt.Sprintf(`head -c %dM /dev/urandom > large`, mib))
	l.checkpointed("a large file")
	then, _ := l.store.Head()
	before := l.treeHash()
	l.sh(fmt.Sprintf(`printf X | dd of=large bs=1 seek=%d conv=notrunc 2>/dev/null`, mib<<19))
	if l.treeHash() == before {
		t.Fatal("nothing was changed, so this shows nothing")
	}
	began := time.Now()
	rewound(t, l, then)
	t.Logf("%d MiB: went back in %v", mib, time.Since(began))
	if after := l.treeHash(); after != before {
		t.Errorf("the tree is\n%s\nit was\n%s", after, before)
	}
}

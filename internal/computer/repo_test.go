package computer

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/projects"
)

// TestAReplacedProjectComesBackWithARewind replaces a project with a cache that is too
// large for a moment: nothing is lost when that fails, and a rewind puts all of it back.
func TestAReplacedProjectComesBackWithARewind(t *testing.T) {
	l := newLab(t, func(cfg *labConfig) { cfg.CacheLimit = 50_000 })
	replace := func(stream *bytes.Buffer) error {
		_, err := l.Projects().Add(l.within(), choir.RoleDesktop, projects.NewProject{Name: "p", Replace: true}, struct{ *bytes.Buffer }{stream})
		return err
	}
	if err := replace(archive(t, [2]string{"old.txt", "old"})); err != nil {
		t.Fatal(err)
	}
	l.sh("cd workspace/p && mkdir -p lib/node_modules/x && head -c 100000 /dev/urandom > lib/node_modules/x/big && echo mine | tee thesis.md > lib/index.js && touch -d 2001-02-03 lib/node_modules")
	before := l.contents()

	broken := archive(t, [2]string{"new.txt", strings.Repeat("x", 4000)})
	broken.Truncate(2000)
	if err := replace(broken); err == nil {
		t.Error("a broken stream is no error")
	}
	sameLines(t, before, l.contents())
	if out := l.sh("ls -A"); strings.Contains(out, ".trash") {
		t.Errorf("after a failure the workspace has %s", out)
	}

	l.sh("touch workspace/p/lib") // nothing here is what the log has seen
	before = l.contents()
	then, _ := l.store.Head()
	if err := replace(archive(t, [2]string{"new.txt", "new"})); err != nil {
		t.Fatal(err)
	}
	if got := l.sh("find workspace/p -type f"); got != "workspace/p/new.txt\n" {
		t.Errorf("it has %s", got)
	}
	taken := l.all("snapshot.taken")
	i := slices.IndexFunc(taken, func(e choir.Event) bool { return e.Seq > then && strings.Contains(string(e.Payload), "repo_added") })
	l.rewindTo(taken[i-1].Seq)
	sameLines(t, before, l.contents())
}

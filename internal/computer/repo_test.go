package computer

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// TestWhatNoMomentHoldsOfAReplacedProjectIsInTheTrash replaces a project with a cache
// that is too large for a moment: it is lost neither when that fails nor when it is
// done, and a rewind puts all of it back.
func TestWhatNoMomentHoldsOfAReplacedProjectIsInTheTrash(t *testing.T) {
	l := newLab(t, func(cfg *labConfig) { cfg.CacheLimit = 50_000 })
	replace := func(stream *bytes.Buffer) error {
		_, err := l.AddRepo(l.within(), choir.RoleDesktop, NewRepo{Name: "p", Replace: true}, struct{ *bytes.Buffer }{stream})
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
	items := must(l.Workspace().Trash(l.within()))(t)
	if len(items) != 1 || items[0].From != "workspace/p/lib/node_modules" {
		t.Fatalf("the trash: %+v", items)
	}
	told := func(e choir.Event) bool {
		return e.Seq > then && (e.Type == "repo.added" || strings.Contains(string(e.Payload), "workspace/p/new.txt"))
	}
	for _, e := range slices.DeleteFunc(l.all("repo.added", "file.written"), func(e choir.Event) bool { return !told(e) }) {
		if e.Source != choir.SourceDesktop {
			t.Errorf("%s is told of the %s", e.Type, e.Source)
		}
	}
	taken := l.all("snapshot.taken")
	i := slices.IndexFunc(taken, func(e choir.Event) bool { return e.Seq > then && strings.Contains(string(e.Payload), "repo_added") })
	l.rewindTo(taken[i-1].Seq)
	sameLines(t, before, l.contents())
}

// TestOnlyAProjectOfGivenSourcesIsReplaced has folders of the owner's in the place of
// a project that somebody else brings again and again.
func TestOnlyAProjectOfGivenSourcesIsReplaced(t *testing.T) {
	l := newLab(t)
	add := func(role choir.Role, r NewRepo) error {
		_, err := l.AddRepo(l.within(), role, r, struct{ *bytes.Buffer }{archive(t, [2]string{"new.txt", "new"})})
		return err
	}
	again := NewRepo{Name: "p", Replace: true, Of: []choir.Source{choir.SourceSystem, choir.SourceDesktop}}
	refused := func(what string) {
		t.Helper()
		before := l.contents()
		head, _ := l.store.Head()
		err := add(choir.RoleControl, again)
		if choir.CodeOf(err) != choir.CodeConflict || !strings.Contains(err.Error(), "there is a workspace/p already, which would be replaced") {
			t.Errorf("%s: %v", what, err)
		}
		sameLines(t, before, l.contents())
		if now, _ := l.store.Head(); now != head {
			t.Errorf("%s: a refusal left %v in the log", what, l.types()[head:])
		}
	}
	l.write("workspace/p/thesis.md", "mine")
	refused("a folder")
	l.sh("rm -r workspace/p; echo x > workspace/p")
	l.root()
	refused("a file")
	l.sh("rm workspace/p")
	for _, role := range []choir.Role{choir.RoleControl, choir.RoleDesktop, choir.RoleControl} {
		if err := add(role, again); err != nil {
			t.Errorf("%s: %v", role, err)
		}
	}
	if err := add(choir.RoleCLI, NewRepo{Name: "p", Replace: true}); err != nil {
		t.Fatal(err)
	}
	refused("a project of the owner's")
}

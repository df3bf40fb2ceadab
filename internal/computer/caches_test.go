package computer

import (
	"slices"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/moments"
	"choiros/internal/eventstore"
)

func TestALargeCacheIsInNoSnapshotAndStaysThroughEveryStepInTime(t *testing.T) {
	l := newLab(t, func(cfg *labConfig) { cfg.CacheLimit = 1 << 16 })
	l.write("app/main.js", "one\n")
	first, _ := l.store.Head()
	small := l.commands(choir.TaskEditRepo, "mkdir -p app/node_modules/x; echo small > app/node_modules/x/y; echo two > app/main.js")
	l.result(small)
	kept, _ := l.store.Head()
	large := l.commands(choir.TaskEditRepo, "head -c 100000 /dev/zero > app/node_modules/x/big; echo three > app/other.js")
	if r := l.result(large); r.Status != choir.StatusOK {
		t.Fatalf("%s %s", r.Code, r.Summary)
	}
	now, _ := l.store.Head()
	const cache = "app/node_modules"
	said := payload[choir.CachesLeftOut](t, l.waitEvent(ofType("caches.left_out")))
	if !slices.Equal(said.Paths, []string{cache}) || said.Limit != 1<<16 {
		t.Errorf("%+v", said)
	}
	for seq, want := range map[uint64][]string{first: nil, kept: nil, now: {cache}} {
		if m := must(l.Moments().At(l.within(), seq))(t); !slices.Equal(m.LeftOut, want) {
			t.Errorf("moment %d leaves out %v", seq, m.LeftOut)
		}
	}
	marks := must(l.Moments().Marks(l.within(), 100, 0))(t)
	if i := slices.IndexFunc(marks, func(m moments.Mark) bool { return m.Kind == eventstore.MarkCaches }); i < 0 || marks[i].Text != "not kept from here on, a cache of more than 0 MiB: app/node_modules" {
		t.Errorf("no mark of it in %+v", marks)
	}
	held := l.sh("find app/node_modules -printf '%p %m %T@ %s\n' | sort; sha256sum app/node_modules/x/*")
	stays := func(when string) {
		t.Helper()
		if got := l.sh("find app/node_modules -printf '%p %m %T@ %s\n' | sort; sha256sum app/node_modules/x/*"); got != held {
			t.Errorf("%s the cache is\n%s\nit was\n%s", when, got, held)
		}
	}
	if got := must(l.Rewinder().Undo(l.within(), choir.RoleShell, small.TaskID, false))(t); l.sh("cat app/main.js app/other.js") != "one\nthree\n" || got.Receipt.Seq == 0 {
		t.Errorf("the undo left %q", l.sh("head app/*.js"))
	}
	stays("after an undo")
	for _, to := range []uint64{kept, first, now, first, kept, now} {
		r := rewound(t, l, to)
		if l.root() != r.To {
			t.Errorf("at %d the workspace is %s, the rewind says %s", to, l.root(), r.To)
		}
		stays("after a rewind")
	}
	if out := l.sh("cat app/main.js app/other.js"); out != "two\nthree\n" {
		t.Errorf("the workspace has %q", out)
	}
	failing := l.commands(choir.TaskEditRepo, "echo more > app/node_modules/x/more; echo bad > app/main.js", "false")
	if r := l.result(failing); r.Status != choir.StatusFailed || l.sh("cat app/main.js") != "two\n" {
		t.Errorf("%s: %s", r.Status, l.sh("cat app/main.js"))
	}
	if out := l.sh("cat app/node_modules/x/more"); out != "more\n" {
		t.Errorf("a rollback touched the cache: %s", out)
	}
	l.sh("rm -r app/node_modules")
	l.write("app/x", "x")
	head, _ := l.store.Head()
	if m := must(l.Moments().At(l.within(), head))(t); len(m.LeftOut) != 0 {
		t.Errorf("it is gone, and %v is left out", m.LeftOut)
	}
	if n := len(l.all("caches.left_out")); n != 2 {
		t.Errorf("%d events tell of it", n)
	}
	// Without it every moment in which it was kept is exact again.
	r := rewound(t, l, kept)
	if out := l.sh("cat app/node_modules/x/y"); out != "small\n" || r.To != must(l.Moments().Tree(l.within(), kept))(t) {
		t.Errorf("%q", out)
	}
}

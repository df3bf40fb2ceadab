package computer

import (
	"archive/tar"
	"bytes"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// sourceArchive packs files as tools/packdesktop does, folders before what is in
// them.
func sourceArchive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	stamp := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	folders := map[string]bool{}
	put := func(h tar.Header, content string) {
		h.ModTime, h.Size = stamp, int64(len(content))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if dir := path.Dir(name); !folders[dir] {
			folders[dir] = true
			put(tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755}, "")
		}
		put(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}, files[name])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestWhatBecomesOfFiles(t *testing.T) {
	t.Parallel()
	at := func(text string) *snapshot.Entry {
		sum, _ := choir.DigestOf([]byte(text)).Bytes()
		return &snapshot.Entry{Kind: snapshot.File, Mode: 0o644, Sum: sum, Size: int64(len(text))}
	}
	dir := &snapshot.Entry{Kind: snapshot.Dir, Mode: 0o755}
	touched := *at("1")
	touched.MTime.Sec = 7
	change := func(path string, before, after *snapshot.Entry) snapshot.Change {
		kind := choir.ChangeModified
		if before == nil {
			kind = choir.ChangeAdded
		} else if after == nil {
			kind = choir.ChangeDeleted
		}
		return snapshot.Change{Path: path, Kind: kind, Before: before, After: after}
	}
	renamed := snapshot.Change{Path: "new", From: "old", Kind: choir.ChangeRenamed, Before: at("1"), After: at("1")}
	for name, c := range map[string]struct {
		written, ours []snapshot.Change
		conflicts     []string
		want          string
	}{
		"nothing":                 {want: ""},
		"only shipped":            {written: []snapshot.Change{change("a", at("1"), at("2"))}, want: "a updated"},
		"only ours":               {ours: []snapshot.Change{change("a", at("1"), at("2"))}, want: "a kept"},
		"removed by us":           {ours: []snapshot.Change{change("a", at("1"), nil)}, want: "a kept"},
		"both, apart":             {[]snapshot.Change{change("a", at("2"), at("3"))}, []snapshot.Change{change("a", at("1"), at("2"))}, nil, "a merged"},
		"both, at one place":      {nil, []snapshot.Change{change("a", at("1"), at("2"))}, []string{"a"}, "a conflict"},
		"new":                     {written: []snapshot.Change{change("d", nil, dir), change("d/a", nil, at("1"))}, want: "d/a added"},
		"gone":                    {written: []snapshot.Change{change("a", at("1"), nil)}, want: "a removed"},
		"only touched":            {ours: []snapshot.Change{change("a", at("1"), &touched)}, want: ""},
		"shipped under a name":    {written: []snapshot.Change{renamed}, want: "new added, old removed"},
		"several, by their paths": {[]snapshot.Change{change("c", at("1"), at("2"))}, []snapshot.Change{change("b", nil, at("1"))}, []string{"a"}, "a conflict, b kept, c updated"},
	} {
		var conflicts []timeline.Conflict
		for _, p := range c.conflicts {
			conflicts = append(conflicts, timeline.Conflict{Path: p})
		}
		var got []string
		for _, f := range fates(c.written, c.ours, conflicts) {
			got = append(got, f.Path+" "+string(f.Fate))
		}
		if said := strings.Join(got, ", "); said != c.want {
			t.Errorf("%s: %q, want %q", name, said, c.want)
		}
	}
}

func TestWhatAnUpgradeLeavesOut(t *testing.T) {
	t.Parallel()
	var changes []snapshot.Change
	for _, p := range []string{"a", "a/x", "a/y/z", "ab", "b"} {
		changes = append(changes, snapshot.Change{Path: p})
	}
	got := conflicting(changes, []timeline.Conflict{{Path: "a"}, {Path: "c"}})
	if !slices.Equal(got, []string{"a", "a/x", "a/y/z"}) {
		t.Errorf("%q", got)
	}
}

func TestAnArchiveOfASourceIsTheTreeItUnpacksTo(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string][]byte{"no archive": []byte(strings.Repeat("x", 600)), "a device": func() []byte {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeChar, Name: "c"}); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}()} {
		if _, err := unpacked(raw); choir.CodeOf(err) != choir.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The versions of a desktop that the next test ships.
var (
	firstDesktop = map[string]string{
		"index.html": "<html>\n", "src/a.ts": "1\n2\n3\n4\n5\n", "src/b.ts": "b\n", "src/c.ts": "c\n", "src/old.ts": "old\n", "src/mine.ts": "m\n",
	}
	secondDesktop = map[string]string{
		"index.html": "<html>\n", "src/a.ts": "1\n2\n3\n4\nfive\n", "src/b.ts": "b2\n", "src/c.ts": "c\n", "src/old.ts": "old\n", "src/mine.ts": "m\n",
	}
	thirdDesktop = map[string]string{
		"index.html": "<html>\n", "src/a.ts": "1\n2\n3\n4\nV\n", "src/b.ts": "b3\n", "src/c.ts": "c3\n", "src/new/n.ts": "n\n", "src/mine.ts": "m\n",
	}
)

// again stops the computer and opens it as another choir would.
func (l *lab) again(source []byte) *lab {
	l.t.Helper()
	l.stop()
	l.cfg.Source = source
	return openLab(l.t, l.cfg)
}

// state is the desktop's source; its computer has woken.
func (l *lab) state() sourceState {
	l.t.Helper()
	l.guest()
	return must(l.sourceState(l.within()))(l.t)
}

func TestADesktopIsUpgradedWithTheBinary(t *testing.T) {
	l := newLab(t, func(c *labConfig) { c.Source = sourceArchive(t, firstDesktop) })
	if s := l.state(); s.now != s.carried || s.base != s.carried || s.changed() || s.outdated() {
		t.Fatalf("as it came: %+v", s)
	}

	l = l.again(sourceArchive(t, secondDesktop))
	if s := l.state(); s.now != s.carried || s.changed() || s.outdated() || l.sh("cat choiros/src/b.ts") != "b2\n" {
		t.Fatalf("one that nobody changed was not replaced: %+v", s)
	}
	if e := l.waitEvent(ofType("desktop.upgraded")); e.Source != choir.SourceSystem {
		t.Errorf("the upgrade is said to be by %s", e.Source)
	}
	if _, err := l.UpgradeSource(l.within(), choir.RoleShell, true); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("nothing to upgrade: %v", err)
	}
	l.write("choiros/src/a.ts", "one\n2\n3\n4\nfive\n")
	l.write("choiros/src/b.ts", "ours\n")
	l.write("choiros/src/mine.ts", "mine\n")
	l.write("other", "untouched\n")

	l = l.again(sourceArchive(t, thirdDesktop))
	if s := l.state(); !s.changed() || !s.outdated() || l.sh("cat choiros/src/c.ts") != "c\n" {
		t.Fatalf("one that was changed: %+v", s)
	}
	wrote := func() int { return len(l.all("desktop.upgraded", "file.written", "file.removed", "snapshot.taken")) }
	before := wrote()
	plan := must(l.UpgradeSource(l.within(), choir.RoleShell, true))(t)
	if now := wrote(); now != before || l.sh("cat choiros/src/c.ts") != "c\n" {
		t.Errorf("a dry run wrote %d events", now-before)
	}
	got := must(l.UpgradeSource(l.within(), choir.RoleShell, false))(t)
	var files []string
	for _, f := range got.Files {
		files = append(files, strings.TrimPrefix(f.Path, "choiros/src/")+" "+string(f.Fate))
	}
	if want := "a.ts merged, b.ts conflict, c.ts updated, mine.ts kept, new/n.ts added, old.ts removed"; strings.Join(files, ", ") != want || !slices.Equal(plan.Files, got.Files) {
		t.Errorf("it gives %q, was to give %+v", files, plan.Files)
	}
	const show = "cd choiros/src; cat a.ts b.ts c.ts mine.ts new/n.ts ../../other; ls old.ts 2>&1 | wc -l; ls"
	if out := l.sh(show); out != "one\n2\n3\n4\nV\nours\nc3\nmine\nn\nuntouched\n1\na.ts\nb.ts\nc.ts\nmine.ts\nnew\n" {
		t.Errorf("the workspace has\n%s", out)
	}
	l.upgradedOnce(got)

	// The next upgrade begins where this one ended, and this one can be taken back.
	if s := l.state(); s.outdated() || !s.changed() {
		t.Errorf("after it: %+v", s)
	}
	rewound(t, l, got.BackSeq)
	if s := l.state(); !s.outdated() || !s.changed() || l.sh("cat choiros/src/a.ts") != "one\n2\n3\n4\nfive\n" {
		t.Errorf("taken back: %+v", s)
	}
	rewound(t, l, got.Receipt.Seq)
	if s := l.state(); s.outdated() || !s.changed() {
		t.Errorf("and forth: %+v", s)
	}
}

// upgradedOnce checks the one event of an upgrade, and its mark.
func (l *lab) upgradedOnce(u Upgraded) {
	l.t.Helper()
	all := l.all("desktop.upgraded")
	e := all[len(all)-1]
	p := payload[choir.DesktopUpgraded](l.t, e)
	if len(all) != 2 || e.Seq != u.Receipt.Seq || e.Source != choir.SourceUser || p.Snapshot != u.To || p.Before != u.From || !slices.Equal(p.Conflicts, []string{"choiros/src/b.ts"}) {
		l.t.Errorf("%d events, the last %+v: %+v", len(all), e, p)
	}
	marks := must(l.Marks(l.within(), 1, 0))(l.t)
	if len(marks) != 1 || marks[0].Seq != e.Seq || !strings.Contains(marks[0].Text, "choiros/src/b.ts") {
		l.t.Errorf("on the time axis: %+v", marks)
	}
	if reached := must(timeline.ReachAll(l.within(), l.store, l.keeper, e.Seq))(l.t); !slices.Contains(reached.Digests, p.Base) {
		l.t.Error("a collection would remove what the next upgrade is merged from")
	}
	if settings := must(l.desk.Desktop(l.within(), 0))(l.t).Settings; len(settings) != 0 {
		l.t.Errorf("settings: %+v", settings)
	}
}

// A folder of an earlier choir has no base: what it had of it in src goes, but
// for a file that was changed, and what the user added stays.
func TestADesktopIsUpgradedToOneWithBase(t *testing.T) {
	l := newLab(t, func(c *labConfig) {
		c.Source = sourceArchive(t, map[string]string{"index.html": "<html>\n", "src/app.ts": "m\n", "src/kit/a.ts": "a\n", "src/kit/b.ts": "b\n"})
	})
	l.state()
	l.write("choiros/src/kit/a.ts", "ours\n")
	l.write("choiros/src/mine.ts", "mine\n")

	l = l.again(sourceArchive(t, map[string]string{"base/kit/a.ts": "a\n", "base/kit/b.ts": "b\n", "index.html": "<html>\n", "src/app.ts": "m2\n"}))
	if s := l.state(); !s.changed() || !s.outdated() {
		t.Fatalf("before the upgrade: %+v", s)
	}
	var files []string
	for _, f := range must(l.UpgradeSource(l.within(), choir.RoleShell, false))(t).Files {
		files = append(files, strings.TrimPrefix(f.Path, "choiros/")+" "+string(f.Fate))
	}
	if got := strings.Join(files, ", "); got != "base/kit/a.ts added, base/kit/b.ts added, src/app.ts updated, src/kit/a.ts conflict, src/kit/b.ts removed, src/mine.ts kept" {
		t.Errorf("it gives %q", got)
	}
	if out := l.sh("cd choiros; find . -type f | sort | xargs head -n1 -q"); out != "a\nb\n<html>\nm2\nours\nmine\n" {
		t.Errorf("the workspace has\n%s", out)
	}
	if s := l.state(); s.outdated() || !s.changed() {
		t.Errorf("after it: %+v", s)
	}
}

func TestThemesAndTimesAreNoRewriting(t *testing.T) {
	l := newLab(t, func(c *labConfig) { c.Source = sourceArchive(t, firstDesktop) })
	l.state()
	for _, step := range []struct {
		name      string
		do        func()
		rewritten bool
	}{
		{"as it came", func() {}, false},
		{"a theme", func() { l.write("choiros/themes/own.json", "{}") }, false},
		{"the same content anew", func() { l.write("choiros/src/a.ts", firstDesktop["src/a.ts"]) }, false},
		{"other content", func() { l.write("choiros/src/a.ts", "x\n") }, true},
		{"taken back", func() { l.write("choiros/src/a.ts", firstDesktop["src/a.ts"]) }, false},
		{"one file more", func() { l.write("choiros/themes.ts", "x\n") }, true},
	} {
		step.do()
		if got := must(l.SourceChanged(l.within()))(t); got != step.rewritten {
			t.Errorf("%s: rewritten is %t", step.name, got)
		}
	}
}

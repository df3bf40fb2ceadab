package selfsource

import (
	"archive/tar"
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

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
		if _, err := readArchive(raw); choir.CodeOf(err) != choir.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The versions of a desktop that the tests ship.
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

func TestADesktopIsUpgradedWithTheBinary(t *testing.T) {
	l := newLab(t, firstDesktop)
	if s := l.now(); s.now != s.carried || s.base != s.carried || s.changed() || s.outdated() {
		t.Fatalf("as it came: %+v", s)
	}

	l.wake(secondDesktop)
	if s := l.now(); s.now != s.carried || s.changed() || s.outdated() || !maps.Equal(l.Files(Folder), secondDesktop) {
		t.Fatalf("one that nobody changed was not replaced: %+v", s)
	}
	if told := l.All(choir.TypeDesktopUpgraded); len(told) != 1 || told[0].Source != choir.SourceSystem {
		t.Errorf("the upgrade is told as %+v", told)
	}
	if _, err := l.Upgrade(l.Within(), choir.RoleShell, true); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("nothing to upgrade: %v", err)
	}
	l.Write("choiros/src/a.ts", "one\n2\n3\n4\nfive\n")
	l.Write("choiros/src/b.ts", "ours\n")
	l.Write("choiros/src/mine.ts", "mine\n")
	l.Write("other", "untouched\n")

	l.wake(thirdDesktop)
	before := l.Files("")
	if s := l.now(); !s.changed() || !s.outdated() || before["choiros/src/c.ts"] != "c\n" {
		t.Fatalf("one that was changed: %+v", s)
	}
	head := l.Head()
	l.open = 2
	plan := must(l.Upgrade(l.Within(), choir.RoleShell, true))(t)
	if l.Head() != head || !maps.Equal(l.Files(""), before) {
		t.Errorf("a dry run wrote %d events", l.Head()-head)
	}
	got := must(l.Upgrade(l.Within(), choir.RoleShell, false))(t)
	if want := "a.ts merged, b.ts conflict, c.ts updated, mine.ts kept, new/n.ts added, old.ts removed"; said(got.Files, "choiros/src/") != want || !slices.Equal(plan.Files, got.Files) {
		t.Errorf("it gives %+v, was to give %+v", got.Files, plan.Files)
	}
	if plan.Terminals != 2 || got.Terminals != 2 || l.open != 0 {
		t.Errorf("of 2 terminals it ends %d, was to end %d; %d are open", got.Terminals, plan.Terminals, l.open)
	}
	want := map[string]string{
		"other": "untouched\n", "choiros/index.html": "<html>\n", "choiros/src/a.ts": "one\n2\n3\n4\nV\n", "choiros/src/b.ts": "ours\n",
		"choiros/src/c.ts": "c3\n", "choiros/src/mine.ts": "mine\n", "choiros/src/new/n.ts": "n\n",
	}
	if files := l.Files(""); !maps.Equal(files, want) {
		t.Errorf("the workspace has %q", files)
	}
	told := l.All(choir.TypeDesktopUpgraded)
	p := must(choir.ReadPayload(told[len(told)-1].Type, told[len(told)-1].Payload))(t).(*choir.DesktopUpgraded)
	if len(told) != 2 || told[1].Seq != got.Receipt.Seq || told[1].Source != choir.SourceUser || p.Snapshot != got.To || p.Before != got.From || !slices.Equal(p.Conflicts, []string{"choiros/src/b.ts"}) {
		t.Errorf("%d events, the last %+v: %+v", len(told), told[len(told)-1], p)
	}
	// The next upgrade begins where this one ended.
	if s := l.now(); s.outdated() || !s.changed() {
		t.Errorf("after it: %+v", s)
	}
}

// said is what becomes of files, without a beginning of their paths.
func said(files []SourceFile, prefix string) string {
	var out []string
	for _, f := range files {
		out = append(out, strings.TrimPrefix(f.Path, prefix)+" "+string(f.Fate))
	}
	return strings.Join(out, ", ")
}

// A folder of an earlier choir has no base: what it had of it in src goes, but
// for a file that was changed, and what the user added stays.
func TestADesktopIsUpgradedToOneWithBase(t *testing.T) {
	l := newLab(t, map[string]string{"index.html": "<html>\n", "src/app.ts": "m\n", "src/kit/a.ts": "a\n", "src/kit/b.ts": "b\n"})
	l.Write("choiros/src/kit/a.ts", "ours\n")
	l.Write("choiros/src/mine.ts", "mine\n")

	l.wake(map[string]string{"base/kit/a.ts": "a\n", "base/kit/b.ts": "b\n", "index.html": "<html>\n", "src/app.ts": "m2\n"})
	if s := l.now(); !s.changed() || !s.outdated() {
		t.Fatalf("before the upgrade: %+v", s)
	}
	got := said(must(l.Upgrade(l.Within(), choir.RoleShell, false))(t).Files, "choiros/")
	if got != "base/kit/a.ts added, base/kit/b.ts added, src/app.ts updated, src/kit/a.ts conflict, src/kit/b.ts removed, src/mine.ts kept" {
		t.Errorf("it gives %q", got)
	}
	want := map[string]string{
		"base/kit/a.ts": "a\n", "base/kit/b.ts": "b\n", "index.html": "<html>\n", "src/app.ts": "m2\n", "src/kit/a.ts": "ours\n", "src/mine.ts": "mine\n",
	}
	if files := l.Files(Folder); !maps.Equal(files, want) {
		t.Errorf("the folder has %q", files)
	}
	if s := l.now(); s.outdated() || !s.changed() {
		t.Errorf("after it: %+v", s)
	}
}

func TestThemesAndTimesAreNoRewriting(t *testing.T) {
	l := newLab(t, firstDesktop)
	for _, step := range []struct {
		name, path, content string
		rewritten           bool
	}{
		{"a theme", "choiros/themes/own.json", "{}", false},
		{"the same content anew", "choiros/src/a.ts", firstDesktop["src/a.ts"], false},
		{"other content", "choiros/src/a.ts", "x\n", true},
		{"taken back", "choiros/src/a.ts", firstDesktop["src/a.ts"], false},
		{"one file more", "choiros/themes.ts", "x\n", true},
	} {
		if step.name == "a theme" && must(l.Changed(l.Within()))(t) {
			t.Error("as it came: rewritten is true")
		}
		l.Write(step.path, step.content)
		if got := must(l.Changed(l.Within()))(t); got != step.rewritten {
			t.Errorf("%s: rewritten is %t", step.name, got)
		}
	}
}

// A source with a task's work in it may not be replaced, whoever's that is.
func TestADesktopIsNotReplacedUnderATask(t *testing.T) {
	l := newLab(t, firstDesktop)
	run, task := workspacetest.NewID(t), workspacetest.NewID(t)
	append := func(p choir.Payload) {
		t.Helper()
		must(l.Events.AppendToRun(l.Within(), choir.RoleControl, workspacetest.NewID(t), run, task, p))(t)
	}
	append(choir.TaskDispatched{Task: choir.DirectorTask{
		Version: choir.ContractVersion, TaskID: task, RunID: run, Kind: choir.TaskRun, Instruction: "x",
	}})
	append(choir.TaskStarted{Base: l.now().tree, Attempt: 1})
	l.wake(secondDesktop)
	if s := l.now(); !s.outdated() || !maps.Equal(l.Files(Folder), firstDesktop) {
		t.Errorf("it was replaced: %+v", s)
	}
	if _, err := l.Upgrade(l.Within(), choir.RoleShell, false); choir.CodeOf(err) != choir.CodeConflict || len(l.All(choir.TypeDesktopUpgraded)) > 0 {
		t.Errorf("by hand: %v", err)
	}
}

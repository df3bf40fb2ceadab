package copies

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/eventstore"
	"choiros/internal/timeline"
)

func TestNothingIsCollectedWhileAnExportIsWritten(t *testing.T) {
	c, first, _ := archived(t)
	second := must(c.PrepareExport(t.Context()))(t)
	first.Close()
	first.Close()
	if _, err := c.collector.Collect(t.Context(), 0, false); choir.CodeOf(err) != choir.CodeBusy {
		t.Errorf("with one open: %v", err)
	}
	var b bytes.Buffer
	if err := second.Write(t.Context(), &b); err != nil {
		t.Error(err)
	}
	second.Close()
	if _, err := c.collector.Collect(t.Context(), 0, false); err != nil {
		t.Errorf("with none: %v", err)
	}
}

func TestAnExportIsTheSameBytesAndSaysItsSize(t *testing.T) {
	c, e, file := archived(t)
	if int64(len(file)) != e.Size() {
		t.Errorf("%d bytes, said to be %d", len(file), e.Size())
	}
	var again bytes.Buffer
	if err := must(c.PrepareExport(t.Context()))(t).Write(t.Context(), &again); err != nil || !bytes.Equal(again.Bytes(), file) {
		t.Errorf("another export of the same log differs, or %v", err)
	}
	for _, secret := range []string{"SECRET=1", "PRIVATE KEY"} {
		if bytes.Contains(file, []byte(secret)) {
			t.Errorf("%s is in the file", secret)
		}
	}
	var withheld []string
	for _, w := range e.Archive.Withheld {
		withheld = append(withheld, w.Path)
	}
	if fmt.Sprint(withheld) != "[.env note]" {
		t.Errorf("withheld %v", withheld)
	}
}

func TestAnImportHasTheLogAndTheContent(t *testing.T) {
	c, e, file := archived(t)
	n := newOne(t)
	a, err := n.Import(t.Context(), bytes.NewReader(file), anyName)
	if err != nil {
		t.Fatal(err)
	}
	store := must(eventstore.Open(t.Context(), n.Dir, eventstore.Config{Computer: n.ID, User: n.User, Now: n.Now}))(t)
	defer store.Close()
	ours := must(c.Log.EventsAfter(t.Context(), 0, 0))(t)
	theirs := must(store.EventsAfter(t.Context(), 0, 0))(t)
	for i := range ours {
		if ours[i].Hash != theirs[i].Hash {
			t.Fatalf("event %d differs", i+1)
		}
	}
	first := theirs[len(ours)]
	var p choir.ComputerImported
	if err := json.Unmarshal(first.Payload, &p); err != nil {
		t.Fatal(err)
	}
	if first.Type != "computer.imported" || p.From != c.Lab.Computer || p.Seq != a.Seq || p.Hash != a.Hash || p.Archive != e.Digest {
		t.Errorf("it begins with %s %+v", first.Type, p)
	}
	if runs := must(store.OpenRuns(t.Context()))(t); len(runs) > 0 {
		t.Errorf("open runs: %+v", runs)
	}
	if tasks := must(store.OpenTasks(t.Context()))(t); len(tasks) > 0 {
		t.Errorf("open tasks: %+v", tasks)
	}
	s, _, err := store.SnapshotAt(t.Context(), 0)
	if err != nil || s.Snapshot != a.Workspace {
		t.Errorf("the workspace is %s, %v", s.Snapshot, err)
	}
	files := must(store.Files(t.Context(), 0, "", 0, ""))(t)
	if got := fmt.Sprint(pathsOf(files)); got != "[a.txt b b/c.txt]" {
		t.Errorf("files %s", got)
	}
	if begins := must(store.Begins(t.Context(), n.ID))(t); begins != first.Seq {
		t.Errorf("it begins at %d, not %d", begins, first.Seq)
	}
}

func pathsOf(files []choir.FileState) []string {
	var out []string
	for _, f := range files {
		out = append(out, f.Path)
	}
	return out
}

// imports tries to bring a file in and gives the error; what it leaves behind is
// only in the folder that its caller removes.
func imports(t testing.TB, file []byte) error {
	t.Helper()
	n := newOne(t)
	_, err := n.Import(t.Context(), bytes.NewReader(file), anyName)
	if rerr := os.RemoveAll(n.Dir); rerr != nil {
		t.Fatal(rerr)
	}
	return err
}

// TestEveryFlippedBitIsFoundAndNamed flips random bits, and some of each kind of
// place, and cuts the file off at random places.
func TestEveryFlippedBitIsFoundAndNamed(t *testing.T) {
	_, e, file := archived(t)
	rnd := mrand.New(mrand.NewPCG(1, 2))
	places := []int{0, 100, 124, 148, 156, 257, 511, 512, len(file) - 1, len(file) - 1024}
	for range 100 {
		places = append(places, rnd.IntN(len(file)))
	}
	for _, at := range places {
		bad := bytes.Clone(file)
		bad[at] ^= 1 << rnd.IntN(8)
		err := imports(t, bad)
		code := choir.CodeOf(err)
		if code != choir.CodeCorrupt && (code != choir.CodeInvalid || at >= 512) {
			t.Fatalf("byte %d of %d: %v", at, len(file), err)
		}
		if at >= 512 && !strings.Contains(err.Error(), "byte") {
			t.Errorf("byte %d: nothing is named: %v", at, err)
		}
	}
	for range 30 {
		cut := rnd.IntN(len(file))
		if err := imports(t, file[:cut]); choir.CodeOf(err) != choir.CodeCorrupt && (cut >= 512 || choir.CodeOf(err) != choir.CodeInvalid) {
			t.Fatalf("cut at %d of %d: %v", cut, len(file), err)
		}
	}
	if err := imports(t, append(bytes.Clone(file), 0)); choir.CodeOf(err) != choir.CodeCorrupt || !strings.Contains(err.Error(), "behind the end") {
		t.Errorf("a byte too many: %v", err)
	}
	// A record of the log is named by its event.
	segment := bytes.Index(file, []byte("CJR1"))
	bad := bytes.Clone(file)
	bad[segment+200] ^= 1
	if err := imports(t, bad); !strings.Contains(err.Error(), "events 1 to 1") || !strings.Contains(err.Error(), e.Archive.Members[0].Path) {
		t.Errorf("the event is not named: %v", err)
	}
}

// forge makes an archive with another manifest and other members than an export
// would have.
func forge(t testing.TB, e *Export, file []byte, change func(*timeline.Archive)) []byte {
	t.Helper()
	a := e.Archive
	a.Members = append([]timeline.Member{}, a.Members...)
	change(&a)
	content := map[choir.Digest][]byte{}
	for r := tar.NewReader(bytes.NewReader(file)); ; {
		if _, err := r.Next(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		raw := must(io.ReadAll(r))(t)
		content[choir.DigestOf(raw)] = raw
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(name string, raw []byte) {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(raw)), Mode: 0o600, Format: tar.FormatGNU})
		if err == nil {
			_, err = w.Write(raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	raw := must(choir.Canonical(a))(t)
	add("manifest-"+string(choir.DigestOf(raw))+".json", raw)
	for _, m := range a.Members {
		add(m.Path, content[m.SHA256])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestForgedArchivesAreRefused(t *testing.T) {
	c, e, file := archived(t)
	earlier, _, err := c.Log.SnapshotAt(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := imports(t, forge(t, e, file, func(*timeline.Archive) {})); err != nil {
		t.Fatalf("what was not changed: %v", err)
	}
	other := workspacetest.NewID(t)
	for name, c := range map[string]struct {
		change func(*timeline.Archive)
		code   choir.Code
	}{
		"another computer":         {func(a *timeline.Archive) { a.Computer = other }, choir.CodeInvalid},
		"a later head":             {func(a *timeline.Archive) { a.Seq++ }, choir.CodeCorrupt},
		"another hash":             {func(a *timeline.Archive) { a.Hash = choir.ZeroHash }, choir.CodeCorrupt},
		"a later format":           {func(a *timeline.Archive) { a.Format = 2 }, choir.CodeInvalid},
		"a blob left out":          {func(a *timeline.Archive) { a.Members = a.Members[:len(a.Members)-1] }, choir.CodeCorrupt},
		"a member twice":           {func(a *timeline.Archive) { a.Members = append(a.Members, a.Members[len(a.Members)-1]) }, choir.CodeInvalid},
		"a path out of the folder": {func(a *timeline.Archive) { a.Members[0].Path = "journal/../../x.seg" }, choir.CodeInvalid},
		"an absolute path":         {func(a *timeline.Archive) { a.Members[0].Path = "/etc/passwd" }, choir.CodeInvalid},
		"no log":                   {func(a *timeline.Archive) { a.Members = a.Members[1:] }, choir.CodeInvalid},
		"no workspace":             {func(a *timeline.Archive) { a.Workspace = choir.DigestOf([]byte("second\n")) }, choir.CodeCorrupt},
		"an earlier workspace":     {func(a *timeline.Archive) { a.Workspace = earlier.Snapshot }, choir.CodeInvalid},
		"more than any disk has":   {func(a *timeline.Archive) { a.Members[1].Size = 1 << 44 }, choir.CodeNoSpace},
		"a past that is a blob":    {func(a *timeline.Archive) { a.Withheld = nil }, choir.CodeCorrupt},
	} {
		if err := imports(t, forge(t, e, file, c.change)); choir.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{"nothing": "", "words": "hello", "another tar": strings.Repeat("x", 2048), "zeros": strings.Repeat("\x00", 4096)} {
		if err := imports(t, []byte(text)); choir.CodeOf(err) != choir.CodeInvalid || !strings.Contains(err.Error(), "choir export") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestForksShareAndDoNotTouch forks a still computer and damages neither by
// writing to the other.
func TestForksShareAndDoNotTouch(t *testing.T) {
	c, _, _ := archived(t)
	before := must(c.Log.Dump(t.Context(), io.Discard))(t)
	n := newOne(t)
	n.User = c.User
	n.Dir = filepath.Join(filepath.Dir(c.Data), "fork-"+string(n.ID))
	t.Cleanup(func() {
		if err := os.RemoveAll(n.Dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Mkdir(n.Dir, 0o711); err != nil {
		t.Fatal(err)
	}
	p := must(c.FindFork(t.Context(), 3))(t)
	if err := c.ForkInto(t.Context(), p, n); err != nil {
		t.Fatal(err)
	}
	content := choir.DigestOf([]byte("first\n"))
	blobPath := filepath.Join("blobs", string(content[:2]), string(content))
	ours, err := os.Stat(filepath.Join(c.Data, blobPath))
	theirs, terr := os.Stat(filepath.Join(n.Dir, blobPath))
	if err != nil || terr != nil || !os.SameFile(ours, theirs) {
		t.Errorf("content is not shared: %v, %v", err, terr)
	}
	store := must(eventstore.Open(t.Context(), n.Dir, eventstore.Config{Computer: n.ID, User: n.User, Now: n.Now}))(t)
	defer store.Close()
	head, _ := store.Head()
	d := must(choir.NewDraft(must(n.NewID())(t), choir.SessionEnded{Reason: "test"}))(t)
	must(store.Append(t.Context(), choir.RoleControl, d))(t)
	if report := must(store.Verify(t.Context(), nil))(t); len(report.Holes)+len(report.Repaired) > 0 || report.Events != head+1 {
		t.Errorf("the fork: %+v", report)
	}
	if report := must(c.Log.Verify(t.Context(), nil))(t); len(report.Holes)+len(report.Repaired) > 0 {
		t.Errorf("the source: %+v", report)
	}
	if after := must(c.Log.Dump(t.Context(), io.Discard))(t); after != before {
		t.Error("the source's projections changed")
	}
	if _, err := c.FindFork(t.Context(), 1<<40); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("an event that is not there: %v", err)
	}
}

// TestAFullDiskRefusesAnImportByName brings a computer to disks without room for
// it: one that is seen to be too small, and ones that run full on the way.
func TestAFullDiskRefusesAnImportByName(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	_, e, file := archived(t)
	need := e.Size()
	for _, room := range []int64{need / 2, need + 16<<10, need + 200<<10} {
		n := newOne(t)
		if err := unix.Mount("tmpfs", n.Dir, "tmpfs", 0, fmt.Sprintf("size=%d", room)); err != nil {
			t.Skipf("mounting a small file system is not possible here: %v", err)
		}
		_, err := n.Import(t.Context(), bytes.NewReader(file), anyName)
		if uerr := unix.Unmount(n.Dir, 0); uerr != nil {
			t.Fatal(uerr)
		}
		if choir.CodeOf(err) != choir.CodeNoSpace {
			t.Errorf("%d bytes for %d: %v", room, need, err)
		}
	}
}

// TestAnotherComputersGrantsHoldNowhereElse imports and forks a computer with a grant for always, and
// forks it at a moment before the grant was revoked.
func TestAnotherComputersGrantsHoldNowhereElse(t *testing.T) {
	l := newLab(t)
	l.holds(map[string]string{"a": "a\n"})
	grant := choir.EgressGranted{Grant: workspacetest.NewID(t), Host: "outside.test", Port: 443, Scope: choir.EgressAlways}
	task := workspacetest.NewID(t)
	if _, err := l.Events.Append(l.Within(), choir.RoleCLI, grant); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Events.AppendToRun(l.Within(), choir.RoleControl, workspacetest.NewID(t), workspacetest.NewID(t), task, choir.EgressRefused{
		Host: "asked.test", Port: 443, Why: choir.EgressPolicy, Policy: "none", Asked: true,
	}); err != nil {
		t.Fatal(err)
	}
	if has := must(l.Log.Egress(l.Within()))(t); len(has.Grants) != 1 || len(has.Requests) != 1 {
		t.Fatalf("the computer itself has %+v", has)
	}
	granted := l.Head()
	var file bytes.Buffer
	e := must(l.PrepareExport(l.Within()))(t)
	err := e.Write(l.Within(), &file)
	e.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Events.Append(l.Within(), choir.RoleCLI, choir.EgressRevoked{Grant: grant.Grant, Host: grant.Host, Port: grant.Port}); err != nil {
		t.Fatal(err)
	}
	for name, begin := range map[string]func(NewComputer) error{
		"import": func(n NewComputer) error {
			_, err := n.Import(l.Within(), &file, anyName)
			return err
		},
		"fork": func(n NewComputer) error { return l.ForkInto(l.Within(), must(l.FindFork(l.Within(), granted))(t), n) },
	} {
		n := newOne(t)
		n.User = l.User
		if err := begin(n); err != nil {
			t.Fatal(err)
		}
		store := must(eventstore.Open(t.Context(), n.Dir, eventstore.Config{Computer: n.ID, User: n.User, Now: n.Now}))(t)
		has, err := store.Egress(t.Context())
		store.Close()
		if err != nil || len(has.Grants) != 0 || len(has.Requests) != 0 || has.Answered <= granted {
			t.Errorf("the %s has %+v, %v", name, has, err)
		}
	}
}

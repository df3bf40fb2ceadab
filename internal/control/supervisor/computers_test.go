package supervisor_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
	"choiros/internal/control/supervisor"
	"choiros/internal/eventstore"
)

// fork forks the first computer of a control plane.
func fork(t *testing.T, s *supervisor.System, name string) api.Forked {
	t.Helper()
	f, err := s.Fork(t.Context(), s.Computers()[0], choir.RoleCLI, api.ForkRequest{Event: 1, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// with opens a control plane that serves nothing, and closes it again.
func with(t *testing.T, data string, do func(*supervisor.System)) {
	t.Helper()
	s, err := supervisor.Open(t.Context(), controltest.Config(t, data))
	if err != nil {
		t.Fatal(err)
	}
	do(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func folders(t *testing.T, data string) []string {
	t.Helper()
	found, err := os.ReadDir(filepath.Join(data, "computers"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range found {
		out = append(out, e.Name())
	}
	return out
}

func count(t *testing.T, s *eventstore.Store, of choir.Type) int {
	t.Helper()
	events, err := s.EventsAfter(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range events {
		if e.Type == of {
			n++
		}
	}
	return n
}

// TestACrashWhileAComputerIsMadeLeavesNothingOrAllOfIt puts a data folder into
// each state that a crash can leave.
func TestACrashWhileAComputerIsMadeLeavesNothingOrAllOfIt(t *testing.T) {
	data := newData(t)
	var forked api.Forked
	with(t, data, func(s *supervisor.System) {})
	source := filepath.Join(data, "computers", folders(t, data)[0])
	before := t.TempDir()
	if err := os.CopyFS(before, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	with(t, data, func(s *supervisor.System) { forked = fork(t, s, "second") })
	path := func(name string) string { return filepath.Join(data, "computers", name) }

	// Before owner.json names it, it is not there; behind that it is.
	other := ".new-" + string(choir.DeriveID(forked.ID, "other"))
	err := errors.Join(os.Mkdir(path(other), 0o711), os.WriteFile(filepath.Join(path(other), "half"), nil, 0o600),
		os.Rename(path(string(forked.ID)), path(".new-"+string(forked.ID))))
	if err != nil {
		t.Fatal(err)
	}
	r, err := supervisor.OpenReader(t.Context(), controltest.Config(t, data))
	if err != nil || len(r.Computers()) != 2 {
		t.Fatalf("read without being started: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	with(t, data, func(s *supervisor.System) {
		c, err := s.Computer(forked.ID)
		if err != nil || c.Name() != "second" {
			t.Fatalf("the second is %v, %v", c, err)
		}
	})
	if got := folders(t, data); len(got) != 2 || strings.HasPrefix(got[0], ".") {
		t.Errorf("the folders are %v", got)
	}

	// The source did not come to say it.
	if err := errors.Join(os.RemoveAll(source), os.CopyFS(source, os.DirFS(before))); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		with(t, data, func(s *supervisor.System) {
			if n := count(t, s.Computers()[0].Store(), "timeline.forked"); n != 1 {
				t.Errorf("the source says %d times that it was forked", n)
			}
		})
	}
}

func TestComputersAreMadeWhileOthersRun(t *testing.T) {
	p := controltest.Start(t)
	p.Healthy()
	f := fork(t, p.System, "second")
	p.Healthy()
	c, err := p.Computer(f.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, running := c.Roles().Level(choir.RoleAssociate); !running {
		t.Error("the second does not run")
	}
	_, err = p.Fork(t.Context(), c, choir.RoleCLI, api.ForkRequest{Name: "second"})
	if choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("a taken name: %v", err)
	}
	f = api.Forked{}
	if f, err = p.Fork(t.Context(), c, choir.RoleCLI, api.ForkRequest{Name: "third"}); err != nil {
		t.Fatalf("a fork of a fork: %v", err)
	}
	third, err := p.Computer(f.ID)
	if err != nil {
		t.Fatal(err)
	}
	if report, err := third.Store().Verify(t.Context(), nil); err != nil || len(report.Holes) > 0 {
		t.Errorf("a fork of a fork: %+v, %v", report, err)
	}
	if from, _, err := third.Origin().ForkedFrom(t.Context()); err != nil || from != c.ID() {
		t.Errorf("it is from %s, %v", from, err)
	}
}

// TestAComputerComesInThroughTheShell sends more than other requests may have, and
// what is no computer.
func TestAComputerComesInThroughTheShell(t *testing.T) {
	p := controltest.Start(t)
	p.Healthy()
	res, file := p.Do(controltest.Request{Method: "GET", Path: p.Base() + "/archive"})
	if res.StatusCode != 200 || res.ContentLength != int64(len(file)) {
		t.Fatalf("%s, %d bytes", res.Status, len(file))
	}
	res, body := p.Do(controltest.Request{Method: "POST", Path: "/api/computers?name=second", Body: bytes.NewReader(file)})
	var made api.Imported
	if res.StatusCode != 201 || json.Unmarshal(body, &made) != nil || made.Name != "second" {
		t.Fatalf("%s %s", res.Status, body)
	}
	if _, err := p.Computer(made.ID); err != nil {
		t.Error(err)
	}
	res, body = p.Do(controltest.Request{Method: "POST", Path: "/api/computers?name=third", Body: strings.NewReader(strings.Repeat("x", 3<<20))})
	if problem := p.Problem(res, body); problem.Code != choir.CodeInvalid || !strings.Contains(problem.Detail, "choir export") {
		t.Errorf("%+v", problem)
	}
}

func TestAnImportThatFailsLeavesNothing(t *testing.T) {
	data := newData(t)
	with(t, data, func(*supervisor.System) {})
	file := exportOf(t, data)
	with(t, data, func(s *supervisor.System) {
		bad := bytes.Clone(file)
		bad[len(bad)/2] ^= 4
		if _, err := s.Import(t.Context(), "second", bytes.NewReader(bad)); choir.CodeOf(err) != choir.CodeCorrupt {
			t.Errorf("a flipped bit: %v", err)
		}
		if _, err := s.Import(t.Context(), "", bytes.NewReader(file)); choir.CodeOf(err) != choir.CodeConflict {
			t.Errorf("the name it comes with is taken: %v", err)
		}
		if got := folders(t, data); len(got) != 1 || len(s.Computers()) != 1 {
			t.Errorf("left behind: %v", got)
		}
		made, err := s.Import(t.Context(), "second", bytes.NewReader(file))
		if err != nil || made.From != s.Computers()[0].ID() || len(s.Computers()) != 2 {
			t.Errorf("%+v, %v", made, err)
		}
	})
	with(t, data, func(s *supervisor.System) {
		if len(s.Computers()) != 2 || s.Computers()[1].Name() != "second" {
			t.Errorf("after a restart: %v", s.Computers())
		}
	})
}

// exportOf exports the first computer of a data folder on which nothing runs.
func exportOf(t *testing.T, data string) []byte {
	t.Helper()
	r, err := supervisor.OpenReader(t.Context(), controltest.Config(t, data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	e, err := r.Computers()[0].Copier().PrepareExport(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var b bytes.Buffer
	if err := e.Write(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestALostComputerIsNotAnEmptyOne removes the folder of each computer in turn:
// it is named, and the other goes on.
func TestALostComputerIsNotAnEmptyOne(t *testing.T) {
	data := newData(t)
	with(t, data, func(s *supervisor.System) { fork(t, s, "second") })
	for _, name := range folders(t, data) {
		at, away := filepath.Join(data, "computers", name), filepath.Join(t.TempDir(), name)
		if err := os.Rename(at, away); err != nil {
			t.Fatal(err)
		}
		with(t, data, func(s *supervisor.System) {
			failed := s.Failed()
			if len(failed) != 1 || string(failed[0].ID) != name || !strings.Contains(failed[0].Why.Error(), at) || len(s.Computers()) != 1 {
				t.Errorf("without %s: %+v, and %d others", name, failed, len(s.Computers()))
			}
		})
		if _, err := supervisor.OpenReader(t.Context(), controltest.Config(t, data)); choir.CodeOf(err) != choir.CodeCorrupt {
			t.Errorf("read without %s: %v", name, err)
		}
		if _, err := os.Stat(at); err == nil {
			t.Errorf("%s was made anew", name)
		}
		if err := os.Rename(away, at); err != nil {
			t.Fatal(err)
		}
	}
	with(t, data, func(s *supervisor.System) {
		if len(s.Failed()) != 0 || len(s.Computers()) != 2 {
			t.Errorf("with all of them again: %v", s.Failed())
		}
	})
}

// TestGoingOnWithoutALostComputer does what the refusal says, with a computer
// beside others and with the only one.
func TestGoingOnWithoutALostComputer(t *testing.T) {
	data := newData(t)
	var second choir.ID
	with(t, data, func(s *supervisor.System) { second = fork(t, s, "second").ID })
	path := filepath.Join(data, "owner.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(data, "computers", string(second))); err != nil {
		t.Fatal(err)
	}
	var refused *choir.Error
	with(t, data, func(s *supervisor.System) {
		if f := s.Failed(); len(f) != 1 || !strings.Contains(f[0].Why.Remedy, "owner.json") {
			t.Errorf("without the second: %+v", f)
		}
	})
	var owner map[string]json.RawMessage
	var entries []json.RawMessage
	if err := errors.Join(json.Unmarshal(raw, &owner), json.Unmarshal(owner["computers"], &entries)); err != nil {
		t.Fatal(err)
	}
	owner["computers"], _ = json.Marshal(entries[:1])
	raw, _ = json.Marshal(owner)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(t, data); err != nil {
		t.Errorf("without its entry: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(data, "computers", folders(t, data)[0])); err != nil {
		t.Fatal(err)
	}
	if err := open(t, data); !errors.As(err, &refused) || !strings.Contains(refused.Remedy, "--data") {
		t.Errorf("without the only one: %v", err)
	}
}

// TestAComputerThatCannotBeOpenedStopsNoOther puts a file where the second
// computer's blobs lie.
func TestAComputerThatCannotBeOpenedStopsNoOther(t *testing.T) {
	data := newData(t)
	var second choir.ID
	with(t, data, func(s *supervisor.System) { second = fork(t, s, "second").ID })
	blobs := filepath.Join(data, "computers", string(second), "blobs")
	away := filepath.Join(t.TempDir(), "blobs")
	if err := errors.Join(os.Rename(blobs, away), os.WriteFile(blobs, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	p := controltest.StartWith(t, controltest.Config(t, data))
	if _, err := p.Computer(second); choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), `"second" could not be opened`) {
		t.Errorf("asked for it: %v", err)
	}
	if why := p.Health(t.Context()).Failing["computer second"]; !strings.Contains(why, "blobs") {
		t.Errorf("health says %q", why)
	}
	var list []api.ComputerView
	if res, body := p.Do(controltest.Request{Method: "GET", Path: "/api/computers"}); res.StatusCode != 200 || json.Unmarshal(body, &list) != nil {
		t.Fatalf("%s %s", res.Status, body)
	}
	if len(list) != 2 || list[0].Failed != "" || list[1].ID != second || list[1].Failed == "" {
		t.Errorf("the list is %+v", list)
	}
	if res, _ := p.Do(controltest.Request{Method: "GET", Path: p.Base() + "/events"}); res.StatusCode != 200 {
		t.Errorf("the first answers %s", res.Status)
	}
}

// stalled reads up to a point, says so, and waits there.
type stalled struct {
	io.Reader
	at   *bool
	wait func()
}

func (s stalled) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if n == 0 && !*s.at {
		*s.at = true
		s.wait()
	}
	return n, err
}

// TestAnImportHoldsNobodyUp forks while an import waits for its file.
func TestAnImportHoldsNobodyUp(t *testing.T) {
	data := newData(t)
	with(t, data, func(*supervisor.System) {})
	file := exportOf(t, data)
	with(t, data, func(s *supervisor.System) {
		reached, goOn, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		slow := stalled{bytes.NewReader(file[:len(file)-1024]), new(bool), func() { close(reached); <-goOn }}
		go func() {
			_, err := s.Import(t.Context(), "third", io.MultiReader(slow, bytes.NewReader(file[len(file)-1024:])))
			done <- err
		}()
		<-reached
		fork(t, s, "second")
		if _, err := s.Fork(t.Context(), s.Computers()[0], choir.RoleCLI, api.ForkRequest{Event: 1, Name: "third"}); choir.CodeOf(err) != choir.CodeConflict {
			t.Errorf("a fork with the name of what is being imported: %v", err)
		}
		if _, err := s.Import(t.Context(), "fourth", bytes.NewReader(file)); choir.CodeOf(err) != choir.CodeBusy {
			t.Errorf("a second import: %v", err)
		}
		close(goOn)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if len(s.Computers()) != 3 {
			t.Errorf("there are %d computers", len(s.Computers()))
		}
	})
}

// counted counts what is read.
type counted struct {
	io.Reader
	bytes int
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.bytes += n
	return n, err
}

// TestAHugeManifestIsRefusedUnread imports a file whose first member claims, and
// has, 300 MB.
func TestAHugeManifestIsRefusedUnread(t *testing.T) {
	const size = 300 << 20
	data := newData(t)
	with(t, data, func(s *supervisor.System) {
		var head bytes.Buffer
		err := tar.NewWriter(&head).WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: "manifest-" + strings.Repeat("a", 64) + ".json", Size: size, Mode: 0o600, Format: tar.FormatGNU,
		})
		if err != nil {
			t.Fatal(err)
		}
		in := &counted{Reader: io.MultiReader(&head, io.LimitReader(endless{}, size))}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = s.Import(t.Context(), "huge", in)
		runtime.ReadMemStats(&after)
		if choir.CodeOf(err) != choir.CodeTooLarge || !strings.Contains(err.Error(), "300 MiB") {
			t.Errorf("it says %v", err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; in.bytes > 1<<20 || took > 16<<20 {
			t.Errorf("%d bytes were read and %d taken from memory", in.bytes, took)
		}
	})
}

// endless is JSON that is costly to hold.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return copy(b, "[],[],[],[],[],[],[],[],"), nil }

func TestThePhraseOfTheOwnerIsKept(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	longest := strings.Repeat("ä", 60)
	t.Run("chosen while a computer is made", func(t *testing.T) {
		p := controltest.StartWith(t, controltest.Config(t, data))
		for _, bad := range []string{" heron", "heron ", longest + "a", "he\u202eron", "he\nron", "\xff"} {
			if _, err := p.System.ChoosePhrase(t.Context(), bad); choir.CodeOf(err) != choir.CodeInvalid {
				t.Errorf("%q: %v", bad, err)
			}
		}
		var both sync.WaitGroup
		both.Go(func() {
			for _, phrase := range []string{longest, "", "a heron at noon"} {
				if got, err := p.System.ChoosePhrase(t.Context(), phrase); err != nil || got.Phrase != phrase {
					t.Error(got.Phrase, err)
				}
			}
		})
		fork(t, p.System, "second")
		both.Wait()
	})
	p := controltest.StartWith(t, controltest.Config(t, data))
	kept, err := os.ReadFile(filepath.Join(data, "owner.json"))
	if got := p.System.Settings().Phrase; err != nil || got != "a heron at noon" || !strings.Contains(string(kept), `"second"`) {
		t.Errorf("%q; %s %v", got, kept, err)
	}
}

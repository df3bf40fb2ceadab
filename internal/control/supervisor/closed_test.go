package supervisor_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/controltest"
	"choiros/internal/control/supervisor"
)

// served starts a control plane, lets do work with it while its sandboxes run, and stops
// it in order.
func served(t *testing.T, data string, do func(t *testing.T, p *controltest.Plane)) {
	t.Helper()
	t.Run("served", func(t *testing.T) {
		p := controltest.StartWith(t, controltest.Config(t, data))
		p.Healthy()
		do(t, p)
	})
}

// stopped starts and stops a control plane until its only computer was closed with nothing
// left to do, and returns the path of the note. A stop while the bus still gets the first
// events leaves no note.
func stopped(t *testing.T, data string) (note string) {
	t.Helper()
	for range 10 {
		served(t, data, func(_ *testing.T, p *controltest.Plane) { p.Settled() })
		note = notePath(t, data)
		if _, err := os.Stat(note); err == nil {
			return note
		}
	}
	t.Fatal("no stop left a note")
	return ""
}

// notePath returns the path of the note of the only computer of a data folder.
func notePath(t *testing.T, data string) string {
	t.Helper()
	return filepath.Join(data, "computers", folders(t, data)[0], "closed.json")
}

// TestAStartOpensOnlyWhatHasWork stops a control plane with and without an open task, and
// looks at what the next start opens.
func TestAStartOpensOnlyWhatHasWork(t *testing.T) {
	data := newData(t)
	path := stopped(t, data)
	var note struct{ Head uint64 }
	if raw, err := os.ReadFile(path); err != nil || json.Unmarshal(raw, &note) != nil || note.Head == 0 {
		t.Fatalf("the note is %s, %v", raw, err)
	}
	with(t, data, func(s *supervisor.System) {
		if h := s.Hibernated(); len(s.Computers()) != 0 || len(h) != 1 || h[0].Head != note.Head {
			t.Fatalf("opened are %v, hibernated %+v", s.Computers(), h)
		}
		if _, err := s.Computer(s.Hibernated()[0].ID); choir.CodeOf(err) != choir.CodeUnavailable {
			t.Errorf("it says %v", err)
		}
	})
	served(t, data, func(t *testing.T, p *controltest.Plane) {
		_, release, err := p.Use(t.Context(), p.Hibernated()[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the note is there while the computer is open: %v", err)
		}
		p.Healthy()
		task := map[string]any{"kind": "run", "instruction": "x", "commands": []any{map[string]any{"shell": "sleep 600"}}}
		if res, body := p.AsCLI(http.MethodPost, p.Base()+"/tasks", task); res.StatusCode != http.StatusAccepted {
			t.Fatalf("%s %s", res.Status, body)
		}
	})
	with(t, data, func(s *supervisor.System) {
		if len(s.Computers()) != 1 {
			t.Errorf("with an open task nothing is opened: %+v", s.Hibernated())
		}
	})
}

// TestANoteThatIsOlderThanTheLogIsNotBelieved gives the next start notes that do not fit
// the log, as a session of an older choir leaves them.
func TestANoteThatIsOlderThanTheLogIsNotBelieved(t *testing.T) {
	data := newData(t)
	path := stopped(t, data)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"empty": "", "half": string(good[:len(good)/2]), "another length": strings.Replace(string(good), `"size":`, `"size":1`, 1),
		"another file": strings.Replace(string(good), `"segment":"0`, `"segment":"1`, 1),
	} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		with(t, data, func(s *supervisor.System) {
			if len(s.Computers()) != 1 {
				t.Errorf("%s: it is believed", name)
			}
		})
	}
}

// TestAComputerWithoutItsNoteIsOpened starts after a kill between the end of the services
// and the note.
func TestAComputerWithoutItsNoteIsOpened(t *testing.T) {
	data := newData(t)
	if err := os.Remove(stopped(t, data)); err != nil {
		t.Fatal(err)
	}
	with(t, data, func(s *supervisor.System) {
		if len(s.Computers()) != 1 || len(s.Hibernated()) != 0 {
			t.Errorf("it is not opened: %+v", s.Hibernated())
		}
	})
}

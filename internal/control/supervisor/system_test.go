package supervisor_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/controltest"
	"choiros/internal/control/supervisor"
	"choiros/internal/sandbox/sandboxtest"
)

func newData(t *testing.T) string { return filepath.Join(sandboxtest.DataDir(t), "data") }

// open opens a control plane and closes it again.
func open(t *testing.T, data string) error {
	t.Helper()
	sys, err := supervisor.Open(t.Context(), controltest.Config(t, data))
	if err != nil {
		return err
	}
	return sys.Close()
}

func TestASecondOneIsRefused(t *testing.T) {
	data := newData(t)
	first, err := supervisor.Open(t.Context(), controltest.Config(t, data))
	if err != nil {
		t.Fatal(err)
	}
	if err := open(t, data); choir.CodeOf(err) != choir.CodeConflict || !strings.Contains(err.Error(), "another choir is running") {
		t.Errorf("got %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, data); err != nil {
		t.Errorf("after the first was closed: %v", err)
	}
}

func TestKeysThatCannotBeSweptDoNotKeepChoirFromStarting(t *testing.T) {
	data := newData(t)
	if err := open(t, data); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a-folder", ".new-1"} { // choir removes its unfinished files, and can not remove this
		inside := filepath.Join(data, "keys", "models", name, "file")
		if err := errors.Join(os.MkdirAll(filepath.Dir(inside), 0o700), os.WriteFile(inside, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	cfg := controltest.Config(t, data)
	cfg.Log = slog.New(slog.NewTextHandler(&said, nil))
	sys, err := supervisor.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := sys.Close(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(said.String(), "keys without a service are left") || !strings.Contains(said.String(), ".new-1") {
		t.Errorf("the log says %s", said.String())
	}
}

// TestADataFolderBelowAClosedOne starts a computer where only its own user may
// go, as below what mktemp -d makes.
func TestADataFolderBelowAClosedOne(t *testing.T) {
	above := sandboxtest.DataDir(t)
	shut := filepath.Join(above, "shut")
	if err := os.Mkdir(shut, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(shut, filepath.Join(above, "link")); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{filepath.Join(shut, "a", "b"), filepath.Join(above, "link", "c")} {
		p := controltest.StartWith(t, controltest.Config(t, data))
		p.Healthy()
	}
	if info, err := os.Stat(shut); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the closed folder is %v, %v", info.Mode(), err)
	}
	file := filepath.Join(above, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{file, filepath.Join(file, "below")} {
		if err := open(t, data); choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "is no folder") {
			t.Errorf("%s: %v", data, err)
		}
	}
}

// TestADataFolderThatIsThereIsClosedToOthers gives choir folders that were made
// by others' means.
func TestADataFolderThatIsThereIsClosedToOthers(t *testing.T) {
	for _, c := range []struct {
		name string
		mode fs.FileMode
		with string // a file in it
		want fs.FileMode
		code choir.Code
	}{
		{"an empty one", 0o755, "", 0o711, ""},
		{"with a configuration, open to all", 0o777, "choir.toml", 0o711, ""},
		{"closed", 0o700, "choir.toml", 0o700, ""},
		{"with other things", 0o755, "letter.txt", 0o755, ""},
		{"with other things, open to all", 0o777, "letter.txt", 0o777, choir.CodeRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := sandboxtest.DataDir(t)
			if c.with != "" {
				if err := os.WriteFile(filepath.Join(data, c.with), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(data, c.mode); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second finds what choir made there
				if err := open(t, data); choir.CodeOf(err) != c.code {
					t.Errorf("it says %v", err)
				}
			}
			if info, err := os.Stat(data); err != nil || info.Mode().Perm() != c.want {
				t.Errorf("it is %v, %v", info.Mode().Perm(), err)
			}
		})
	}
}

func TestDamagedOwnersAreRefused(t *testing.T) {
	data := newData(t)
	if err := open(t, data); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(data, "owner.json")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"empty": "", "half": string(good[:len(good)/2]), "nothing": "{}", "null": "null",
		"a path for an id":    strings.Replace(string(good), `"id": "`, `"id": "../../`, 1),
		"a user of the host":  strings.Replace(string(good), `"host_uid": `, `"host_uid": 1, "x": `, 1),
		"root as a sandbox's": strings.Replace(string(good), `"host_uid"`, `"uid"`, 1),
	} {
		if strings.Contains(name, "host") || strings.Contains(name, "root") {
			if !supervisor.IsRoot() {
				continue
			}
		}
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if code := choir.CodeOf(open(t, data)); code != choir.CodeCorrupt && code != choir.CodeConflict {
			t.Errorf("%s: got code %q", name, code)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(t, data); err != nil {
		t.Errorf("mended: %v", err)
	}
}

// TestNobodyElseReadsTheDataFolder runs under the widest and the narrowest umask.
func TestNobodyElseReadsTheDataFolder(t *testing.T) {
	for _, mask := range []int{0, 0o077} {
		data := newData(t)
		old := syscall.Umask(mask)
		p := controltest.StartWith(t, controltest.Config(t, data))
		p.Healthy()
		syscall.Umask(old)
		err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel := strings.TrimPrefix(path, data+"/")
			info, err := d.Info()
			if err != nil {
				return err
			}
			mode := info.Mode()
			switch {
			case strings.HasPrefix(rel, "sandbox/"):
				return fs.SkipDir // the made-up system that every sandbox sees
			case strings.Contains(rel, "/workspace/"):
				return nil // its owner's business, behind 0700
			case strings.Contains(rel, "/egress/trust"):
				// Certificates, which are public, shown to programs in the sandbox.
				if perm := mode.Perm(); mode.IsDir() && perm != 0o755 || mode.IsRegular() && perm != 0o644 {
					t.Errorf("umask %#o: %s is %v", mask, rel, mode)
				}
			case strings.HasPrefix(rel, "guest/") && mode.IsRegular():
				if mode.Perm() != 0o111 {
					t.Errorf("umask %#o: %s is %v", mask, rel, mode)
				}
			case mode.IsRegular():
				if reachable(data, path) && mode.Perm()&0o077 != 0 {
					t.Errorf("umask %#o: %s is %v", mask, rel, mode)
				}
			case mode.IsDir() && strings.HasPrefix(rel, "guest/"):
				if mode.Perm() != 0o755 {
					t.Errorf("umask %#o: %s is %v", mask, rel, mode)
				}
			case mode.IsDir() && mode.Perm()&0o027 != 0:
				if mode.Perm()&0o066 != 0 {
					t.Errorf("umask %#o: %s is %v", mask, rel, mode)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		for _, private := range []string{"keys", "bus"} {
			if info, err := os.Stat(filepath.Join(data, private)); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("umask %#o: %s is %v, %v", mask, private, info.Mode(), err)
			}
		}
	}
}

// reachable reports whether others can get to a path below the data folder.
func reachable(data, path string) bool {
	for dir := filepath.Dir(path); len(dir) >= len(data); dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o011 == 0 {
			return false
		}
	}
	return true
}

func TestAReaderReadsAndChangesNothing(t *testing.T) {
	data := newData(t)
	cfg := controltest.Config(t, data)
	if _, err := supervisor.OpenReader(t.Context(), cfg); choir.CodeOf(err) != choir.CodeNotFound {
		t.Fatalf("nothing there: %v", err)
	}
	if err := open(t, data); err != nil {
		t.Fatal(err)
	}
	r, err := supervisor.OpenReader(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := r.Computers()[0]
	if events, err := c.Store().EventsAfter(t.Context(), 0, 0); err != nil || len(events) == 0 || events[0].Type != "computer.created" {
		t.Errorf("%v, %v", events, err)
	}
	ctx := context.Background() // a Reader must not wait for what will never run
	_, _, promptErr := c.Runs().Prompt(ctx, choir.RoleCLI, choir.PromptSubmitted{Text: "x"}, "")
	_, rewindErr := c.Rewinder().Rewind(ctx, choir.RoleCLI, 1, false)
	_, mintErr := r.Mint(choir.RoleCLI, c.User(), c.ID())
	_, linkErr := r.NewLink()
	for what, err := range map[string]error{"prompt": promptErr, "mint": mintErr, "link": linkErr} {
		if choir.CodeOf(err) != choir.CodeUnavailable {
			t.Errorf("%s: %v", what, err)
		}
	}
	if rewindErr == nil {
		t.Error("it rewinds")
	}
	if h := r.Health(ctx); h.Status != "failing" {
		t.Errorf("health %+v", h)
	}
}

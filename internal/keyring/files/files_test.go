package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/keyring"
	"choiros/internal/keyring/files"
	"choiros/internal/keyring/keyringtest"
)

func TestKeyring(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "models")
	keyringtest.Run(t, func(*testing.T) keyring.Keyring { return files.New(dir) })
}

func TestAKeyIsForItsOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "models")
	k := files.New(dir)
	if err := k.Put(t.Context(), "one", "sk-secret"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "one")
	for at, want := range map[string]os.FileMode{path: 0o600, dir: 0o700} {
		if info, err := os.Stat(at); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v: %v", at, info.Mode(), want, err)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := k.Read(t.Context(), "one")
	if choir.CodeOf(err) != choir.CodeRefused || !strings.Contains(err.Error(), "others can read the key file "+path+" (chmod 600 "+path+")") {
		t.Errorf("a key that others can read: %v", err)
	}
	if d := k.Describe(t.Context(), "one"); choir.CodeOf(d.Err) != choir.CodeRefused {
		t.Errorf("its description is %+v", d)
	}
}

func TestWhatIsNoKeyFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{empty: "is empty", dir: "not a file", filepath.Join(dir, "none"): "not there"} {
		if _, err := files.ReadFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestASweepRemovesAKeyThatWasHalfPut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "models")
	k := files.New(dir)
	if err := k.Put(t.Context(), "one", "sk-secret"); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(dir, ".new-123")
	if err := os.WriteFile(half, []byte("sk-half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := k.Sweep(t.Context(), []string{"one"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("the half of a key is still there: %v", err)
	}
}

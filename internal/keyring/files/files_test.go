package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
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

func TestAFolderBesideTheKeysIsNoKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "models")
	k := files.New(dir)
	if err := k.Put(t.Context(), "one", "sk-secret"); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(dir, "backup", "file")
	if err := errors.Join(os.Mkdir(filepath.Dir(inside), 0o700), os.WriteFile(inside, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if names, err := k.Names(t.Context()); err != nil || !slices.Equal(names, []string{"one"}) {
		t.Errorf("names %v: %v", names, err)
	}
	if err := k.Sweep(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(inside); err != nil {
		t.Errorf("a sweep took what is no key: %v", err)
	}
}

func TestAKeyFileThatIsTooLongIsRefusedAndNotCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	longest := strings.Repeat("k", keyring.MaxKey)
	for content, fits := range map[string]bool{
		longest: true, longest + "\r\n": true,
		longest + "k": false, longest + "kk": false, longest + longest: false, longest + "\n\nk": false,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := files.ReadFile(path)
		if fits && (err != nil || key != longest) {
			t.Errorf("of %d bytes %d were read: %v", len(content), len(key), err)
		}
		if !fits && (key != "" || choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "put the key alone into "+path)) {
			t.Errorf("of %d bytes %d were read: %.300v", len(content), len(key), err)
		}
	}
}

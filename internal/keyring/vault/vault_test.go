package vault_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/keyring"
	"choiros/internal/keyring/keyringtest"
	"choiros/internal/keyring/vault"
)

const secret = "sk-the-secret-of-this-test"

func TestVault(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	keyringtest.Run(t, func(*testing.T) keyring.Keyring { return vault.New(dir, time.Now) })
}

func TestTheFileIsEncryptedAndForItsOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	v := vault.New(dir, time.Now)
	if err := v.Set(t.Context(), "forge", secret, &choir.VaultBinding{Host: "git.example.com"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"vault.age", "vault.key"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "vault.age"))
	if err != nil || bytes.Contains(raw, []byte(secret)) || bytes.Contains(raw, []byte("git.example.com")) || !bytes.HasPrefix(raw, []byte("age-encryption.org/v1\n")) {
		t.Errorf("the file is not encrypted by age: %.60q, %v", raw, err)
	}
	if err := os.Chmod(filepath.Join(dir, "vault.key"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Read(t.Context(), "forge"); choir.CodeOf(err) != choir.CodeRefused || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("with a master key that others can read: %v", err)
	}
}

// TestTheMasterKeyIsChanged rotates and holds that neither the old master key reads the new
// file, nor the new one is the old.
func TestTheMasterKeyIsChanged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	v := vault.New(dir, time.Now)
	if err := v.Put(t.Context(), "one", secret); err != nil {
		t.Fatal(err)
	}
	master, old := read(t, dir, "vault.key"), read(t, dir, "vault.age")
	if err := v.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := v.Read(t.Context(), "one"); err != nil || got != secret {
		t.Errorf("after the change: %q, %v", got, err)
	}
	fresh, now := read(t, dir, "vault.key"), read(t, dir, "vault.age")
	if bytes.Contains(fresh, bytes.TrimSpace(master)) || bytes.Equal(old, now) {
		t.Error("the old master key is still there, or the file is the old one")
	}
	write(t, dir, "vault.key", master)
	if _, err := v.Read(t.Context(), "one"); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("the old master key reads the new file: %v", err)
	}
	// A change that breaks off before the entries are written anew leaves both keys.
	write(t, dir, "vault.key", append(append([]byte{}, fresh...), master...))
	write(t, dir, "vault.age", old)
	if got, err := v.Read(t.Context(), "one"); err != nil || got != secret {
		t.Errorf("a change that broke off: %q, %v", got, err)
	}
	if err := v.Put(t.Context(), "two", secret+"2"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "vault.key", fresh)
	if got, err := v.Read(t.Context(), "one"); err != nil || got != secret {
		t.Errorf("the next write is not under the new master key: %q, %v", got, err)
	}
}

// TestADamagedVaultIsRefusedAndNotReplaced holds that no write goes over what cannot be read.
func TestADamagedVaultIsRefusedAndNotReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	v := vault.New(dir, time.Now)
	if err := v.Put(t.Context(), "one", secret); err != nil {
		t.Fatal(err)
	}
	good := read(t, dir, "vault.age")
	for i := 0; i < len(good); i += 1 + len(good)/24 {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		write(t, dir, "vault.age", bad)
		if _, err := v.Read(t.Context(), "one"); err == nil {
			t.Fatalf("byte %d of %d can be flipped", i, len(good))
		}
		if err := v.Put(t.Context(), "two", "sk-another"); err == nil || !bytes.Equal(read(t, dir, "vault.age"), bad) {
			t.Fatalf("a damaged vault was written over: %v", err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "vault.key")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "vault.age", good)
	if _, err := v.Names(t.Context()); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("without its master key: %v", err)
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func write(t *testing.T, dir, name string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

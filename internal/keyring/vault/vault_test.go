package vault_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
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
	if err := v.Set(t.Context(), "forge", secret, &choir.VaultBinding{Host: "git.example.com"}, keyring.Change{}, nil); err != nil {
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

// TestNobodyWaitsForASync holds a change at its sync and reads meanwhile.
func TestNobodyWaitsForASync(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	v := vault.New(dir, time.Now)
	if err := v.Set(t.Context(), "one", secret, &choir.VaultBinding{}, keyring.Change{}, nil); err != nil {
		t.Fatal(err)
	}
	asked, goOn, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- v.Set(t.Context(), "one", secret+"2", &choir.VaultBinding{}, keyring.Change{}, func(keyring.Entry) error {
			close(asked)
			<-goOn
			return nil
		})
	}()
	<-asked
	read := make(chan string, 1)
	go func() {
		key, _ := v.Open(t.Context(), "one", func(choir.VaultBinding) error { return nil })
		read <- key
	}()
	select {
	case key := <-read:
		if key != secret {
			t.Errorf("read %q", key)
		}
	case <-time.After(10 * time.Second):
		t.Error("a reader waits for a change")
	}
	close(goOn)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestRotationsAtOnceLoseNothing changes the master key again and again, from two sides, while
// others read and put.
func TestRotationsAtOnceLoseNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	v := vault.New(dir, time.Now)
	if err := v.Put(t.Context(), "one", secret); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var changes, reads sync.WaitGroup
	for side := range 2 {
		changes.Go(func() {
			for i := range 5 {
				if err := v.Rotate(t.Context()); err != nil {
					t.Error(err)
				}
				if err := v.Put(t.Context(), fmt.Sprintf("of-%d-%d", side, i), secret); err != nil {
					t.Error(err)
				}
			}
		})
		reads.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				if got, err := v.Read(t.Context(), "one"); err != nil || got != secret {
					t.Errorf("read %q, %v", got, err)
					return
				}
			}
		})
	}
	changes.Wait()
	close(ended)
	reads.Wait()
	if names, err := v.Names(t.Context()); err != nil || len(names) != 11 {
		t.Errorf("%d names, %v", len(names), err)
	}
	if n := bytes.Count(read(t, dir, "vault.key"), []byte("AGE-SECRET-KEY-")); n != 1 {
		t.Errorf("%d master keys are left", n)
	}
}

// TestAnEntryIsReplacedOnlyWhereThatIsPermitted shows the entry that is there to the one who replaces or removes it.
func TestAnEntryIsReplacedOnlyWhereThatIsPermitted(t *testing.T) {
	v := vault.New(filepath.Join(t.TempDir(), "keys"), time.Now)
	if err := v.Set(t.Context(), "one", secret, &choir.VaultBinding{Computer: "c"}, keyring.Change{}, nil); err != nil {
		t.Fatal(err)
	}
	no := func(e keyring.Entry) error {
		return choir.E("test", choir.CodeConflict, "of %s", e.Bound.Computer)
	}
	if err := v.Set(t.Context(), "one", secret+"2", nil, keyring.Change{}, no); choir.CodeOf(err) != choir.CodeConflict || !strings.Contains(err.Error(), "of c") {
		t.Errorf("replaced: %v", err)
	}
	if err := v.Remove(t.Context(), "one", keyring.Change{}, no); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("removed: %v", err)
	}
	if got, err := v.Read(t.Context(), "one"); err != nil || got != secret {
		t.Errorf("it is %q, %v", got, err)
	}
	if err := v.Remove(t.Context(), "two", keyring.Change{}, no); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("one that is not there: %v", err)
	}
}

package vault

import (
	"path/filepath"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/egress"
	keyvault "choiros/internal/keyring/vault"
)

// TestAHostRepeatsNoOtherKeyThatItKnows has a host remember what it was sent before, as pages of
// the last requests do: keys for other paths, for git, of other computers, and keys that were set anew
// or removed since.
func TestAHostRepeatsNoOtherKeyThatItKnows(t *testing.T) {
	v := New(keyvault.New(filepath.Join(t.TempDir(), "keys"), time.Now))
	set := func(computer choir.ID, name, key string, b choir.VaultBinding) {
		t.Helper()
		b.Computer = computer
		if _, err := v.Set(t.Context(), newQuiet(computer), choir.RoleCLI, name, key, b); err != nil {
			t.Fatal(err)
		}
	}
	header := func(host, path string) choir.VaultBinding {
		return choir.VaultBinding{Use: choir.VaultForHeader, Host: host, Header: "X-Key", Paths: []string{path}}
	}
	set("c", "a", "the-first-key-of-a", header("h.test", "/a"))
	set("c", "a", "the-second-key-of-a", header("h.test", "/a"))
	set("c", "b", "the-key-of-b", header("h.test", "/b"))
	set("c", "gone", "the-key-that-is-gone", header("h.test", "/gone"))
	set("c", "moved", "the-key-before-it-moved", header("h.test", "/moved"))
	set("c", "moved", "the-key-at-another-host", header("g.test", "/moved"))
	set("c", "far", "the-key-at-another-port", choir.VaultBinding{Use: choir.VaultForHeader, Host: "h.test", Port: 8443, Header: "X-Key"})
	set("d", "forge", "the-key-of-git", choir.VaultBinding{Use: choir.VaultForGit, Host: "h.test", User: "me"})
	if err := v.Remove(t.Context(), newQuiet("c"), choir.RoleCLI, "gone"); err != nil {
		t.Fatal(err)
	}
	added, err := v.Add(t.Context(), "a", Want{Use: choir.VaultForHeader, Computer: "c", Target: egress.Target{Host: "h.test", Port: 443, Path: "/a"}})
	if err != nil || added.Value != "the-second-key-of-a" {
		t.Fatalf("%+v, %v", added, err)
	}
	for text, want := range map[string]bool{
		"the-second-key-of-a": true, "the-first-key-of-a": true, "the-key-of-b": true, "the-key-that-is-gone": true, "the-key-before-it-moved": true,
		"the-key-of-git": true, "bWU6dGhlLWtleS1vZi1naXQ=": true, "the-key-at-another-host": false, "the-key-at-another-port": false,
	} {
		if got := added.Secrets.In("recently: " + text); got != want {
			t.Errorf("%s is looked for: %v", text, got)
		}
	}
}

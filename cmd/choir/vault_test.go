package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	secretleak "choiros/internal/leak"
)

// TestTheVaultTakesKeysAndGivesNoneBack sets, lists, changes and removes entries, and holds that no
// verb prints a key, and no file, event or log has one.
func TestTheVaultTakesKeysAndGivesNoneBack(t *testing.T) {
	t.Parallel()
	const key = "ghs_the-key~of+this/test"
	m := newMachine(t, "")
	m.up().healthy()
	said := ""
	set := func(code int, stdin string, args ...string) string {
		t.Helper()
		r := m.runWith(stdin, append([]string{"vault", "set"}, args...)...)
		said += r.out + r.errOut
		if r.code != code {
			t.Errorf("vault set %q ended with %d: %s%s", args, r.code, r.out, r.errOut)
		}
		return r.out + r.errOut
	}
	set(0, key+"\n", "forge", "--host", "git.example.com", "--path", "/me", "--user", "oauth2", "--method", "fetch")
	set(0, key, "api", "--host", "api.example.com", "--port", "8443", "--header", "authorization", "--prefix", "Bearer ", "--method", "GET", "--json")
	for args, want := range map[string]string{
		"one":                                        "--host",
		"one --host Git.example.com":                 "lower case",
		"one --host git.example.com --path me":       "from /",
		"one --host git.example.com --path /a/../b":  "from /",
		"one --host git.example.com --method delete": "fetch or push",
		"one --host a.example.com --header Host":     "no header that a key can be added as",
		"ONE --host git.example.com":                 "ONE",
	} {
		if got := set(2, key, strings.Fields(args)...); !strings.Contains(got, want) {
			t.Errorf("%s: %s", args, got)
		}
	}
	for _, short := range []string{"", "short"} {
		if got := set(2, short, "one", "--host", "git.example.com"); !strings.Contains(got, "fewer than 8") {
			t.Errorf("the key %q: %s", short, got)
		}
	}
	said += m.must("vault", "rotate") + m.must("vault", "list")
	var list []api.VaultEntry
	out := m.must("vault", "list", "--json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 2 || list[0].Name != "api" || list[0].Bound.Header != "Authorization" || list[1].Bound.Paths[0] != "/me" || list[1].SetAt == 0 {
		t.Errorf("listed %s: %v", out, err)
	}
	said += out + m.must("vault", "remove", "forge")
	if r := m.run("vault", "remove", "forge"); r.code == 0 {
		t.Error("an entry is removed twice")
	}
	counts := map[choir.Type]int{}
	for _, e := range m.client().log(t) {
		counts[e.Type]++
	}
	if counts[choir.TypeVaultSet] != 2 || counts[choir.TypeVaultRemoved] != 1 {
		t.Errorf("the log has %v", counts)
	}
	secrets := secretleak.New(map[string]string{"key": key})
	if secrets.In(said) {
		t.Errorf("a verb printed the key: %s", said)
	}
	err := filepath.WalkDir(m.data, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return nil // it is gone again
		}
		defer f.Close()
		if hits, _ := secrets.Find(f); len(hits) > 0 {
			t.Errorf("%s has the key, %s", path, hits[0].Form)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

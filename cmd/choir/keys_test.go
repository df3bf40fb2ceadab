package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/config"
)

func TestKeysAreToldOfAndNeverTold(t *testing.T) {
	t.Parallel()
	const secret = "sk-not-to-be-seen"
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a := &app{printer: newPrinter(console{}, func(name string) string {
		if name == "SET" {
			return secret
		}
		return ""
	})}
	for _, c := range []struct {
		name     string
		provider config.Provider
		kind     string
		present  bool
		problem  string
	}{
		{"no key is needed", config.Provider{Name: "local"}, "none", true, ""},
		{"a variable", config.Provider{Name: "a", KeyEnv: "SET"}, "variable", true, ""},
		{"a variable that is not set", config.Provider{Name: "a", KeyEnv: "UNSET"}, "variable", false, "UNSET"},
		{"a file", config.Provider{Name: "a", KeyFile: file("good", secret+"\n", 0o600)}, "file", true, ""},
		{"a file that is empty", config.Provider{Name: "a", KeyFile: file("empty", "\n", 0o600)}, "file", false, "empty"},
		{"a file that others can read", config.Provider{Name: "a", KeyFile: file("open", secret, 0o644)}, "file", false, "others can read"},
		{"a file that is not there", config.Provider{Name: "a", KeyFile: filepath.Join(dir, "none")}, "file", false, "read the key"},
	} {
		got := a.keyState(c.provider)
		if got.Kind != c.kind || got.Present != c.present || !strings.Contains(got.Problem, c.problem) || (got.Problem == "") != c.present {
			t.Errorf("%s: %+v", c.name, got)
		}
		if raw, err := json.Marshal(got); err != nil || strings.Contains(string(raw), secret) {
			t.Errorf("%s tells the key: %s %v", c.name, raw, err)
		}
		if there := c.kind == "file" && c.problem != "read the key"; there != (got.SetAt != 0) {
			t.Errorf("%s: written at %v", c.name, got.SetAt)
		}
	}
}

package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
)

func TestAnErrorNamesFileLineAndKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "choir.toml")
	for text, want := range map[string]string{
		"# rules\n[[approve]]\npath = 'a'\n\n[[approve]]\nname = 'b'\nlines = -1\n":                              "choir.toml:7: approve[1].lines must be",
		"[[approve]]\npath = 'a'\n\n[[approve]]\nname = 'b'\n":                                                   "choir.toml:4: approve[1] has no condition",
		"[[approve]]\ntool = 'bash'\nhammer = 1\n":                                                               "choir.toml:3: approve.hammer is not a known key",
		"[egress]\nmode = 'allowlist'\n[[egress.allowlist]]\nhost = 'a.b'\n[[egress.allowlist]]\nhost = 'A.b'\n": "choir.toml:6: egress.allowlist[1].host",
		"[[egress.allowlist]]\nhost = 'a.b'\n":                                                                   "choir.toml:1: egress.allowlist names hosts",
		"egress.mode = 'open'\n":                                                                                 "choir.toml:1: egress.mode must be",
		"[bus]\ncluster = [\n 'nats://a:4222']\n":                                                                "choir.toml:2: bus.cluster",
		"[runtime]\nmode = 'microvm'\n":                                                                          "choir.toml.microvm.kernel",
		"[limits]\nterminals = 'a'\n":                                                                            "choir.toml.limits.terminals must be a whole number (line 2)",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Load(file); choir.CodeOf(err) != choir.CodeInvalid || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

package config

import "testing"

// TestNamesOfAPublicSite shows the names that are taken: those of another site than the
// shell's, of which a public suffix below which everybody has a site is one.
func TestNamesOfAPublicSite(t *testing.T) {
	for name, toml := range map[string]string{
		"this machine":    "",
		"another shell":   "[listen]\nshell = 'shell.localhost'",
		"another domain":  "[listen]\nscheme = 'https'\nshell = 'choir.example.org'\ndomain = 'choir-desktops.example'\npublic_port = 443",
		"a public suffix": "[listen]\nscheme = 'https'\nshell = 'choir.example.org'\ndomain = 'github.io'",
		"TLS here":        "[listen]\nscheme = 'https'\npublic_port = 8443",
	} {
		if _, err := Parse([]byte(toml)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

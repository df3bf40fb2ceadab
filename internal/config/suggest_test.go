package config

import (
	"errors"
	"strings"
	"testing"

	"choiros/internal/choir"
)

func TestAnUnknownKeyNamesTheNearestAndTheKnownOnes(t *testing.T) {
	const provider = "[[models.provider]]\nname = 'a'\nkind = 'openai'\n"
	for _, c := range []struct{ toml, path, remedy string }{
		{provider + "url = 'x'", "models.provider.url", "did you mean base_url? the known keys there are name, kind, base_url, key_file, key_env, region, free"},
		{provider + "endpoint = 'x'", "models.provider.endpoint", "did you mean base_url?"},
		{provider + "address = 'x'", "models.provider.address", "did you mean base_url?"},
		{provider + "api_key = 'x'", "models.provider.api_key", "did you mean key_file?"},
		{provider + "keyfile = 'x'", "models.provider.keyfile", "did you mean key_file?"},
		{"[limits]\nrun_task = 3", "limits.run_task", "did you mean run_tasks?"},
		{"[rutime]\nmode = 'local'", "rutime", "did you mean runtime? the known keys there are runtime, storage"},
		{"[limits]\nzzzzzzzz = 3", "limits.zzzzzzzz", "the known keys there are processes,"},
		{"[listen]\naddres = 'x'", "listen.addres", "did you mean address?"},
	} {
		_, err := Parse([]byte(c.toml))
		var e *choir.Error
		if !errors.As(err, &e) || e.Path != c.path || !strings.HasPrefix(e.Remedy, c.remedy) {
			t.Errorf("%q: %v", c.toml, err)
		}
	}
}

func TestAValueOfAnotherKindIsRefusedInWords(t *testing.T) {
	for _, c := range []struct{ toml, path, says string }{
		{"listen = '127.0.0.1:18937'", "listen", "must be a table (line 1) (write [listen], and its keys in the lines below it, such as address = ...; the known keys there are address, shell, domain, scheme, public_port)"},
		{"[[listen]]\naddress = 'x'", "listen", "must be a table (line 1)"},
		{"[models]\nprovider = 'x'", "models.provider", "must be a list of tables (line 2) (write [[models.provider]], "},
		{"[listen]\naddress = 3", "listen.address", "must be a text in quotes (line 2)"},
		{"[listen.address]\nx = 1", "listen.address", "must be a text in quotes"},
		{"[limits]\nprocesses = 'x'", "limits.processes", "must be a whole number"},
		{"[limits]\nprocesses = 99999999999999999999", "limits.processes", "too large"},
		{"[runtime]\nrequire_limits = 1", "runtime.require_limits", "must be true or false"},
		{"[[models.provider]]\nname = 3", "models.provider.name", "must be a text in quotes"},
	} {
		_, err := Parse([]byte(c.toml))
		var e *choir.Error
		if !errors.As(err, &e) || e.Path != c.path || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "struct") {
			t.Errorf("%q: %v", c.toml, err)
		}
	}
	for _, twice := range []string{"[limits]\nprocesses = 1\nprocesses = 2", "[listen]\n[listen]", "[limits]\nprocesses = "} {
		if _, err := Parse([]byte(twice)); err == nil || strings.Contains(err.Error(), "must be") {
			t.Errorf("%q: %v", twice, err)
		}
	}
}

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

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"url", "base_url", 5}, {"kitten", "sitting", 3}, {"mod", "mode", 1}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != c.want {
			t.Errorf("from %q to %q are %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

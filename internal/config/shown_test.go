package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// filled sets every text below a value to one of its own, and each list to two of them.
func filled(v reflect.Value, next *int) {
	switch v.Kind() {
	case reflect.String:
		*next++
		v.SetString(fmt.Sprintf("zq-text-%d", *next))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			filled(v.Index(i), next)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				filled(v.Field(i), next)
			}
		}
	}
}

func TestAStrangerReadsNoTextButThoseThatAreNamedHere(t *testing.T) {
	t.Parallel()
	var c Config
	texts := 0
	filled(reflect.ValueOf(&c).Elem(), &texts)
	var shown []string
	withheld := c.Withheld()
	told := 0
	for _, s := range c.Shown() {
		if strings.Contains(s.Value, "zq-text-") {
			shown = append(shown, s.Key)
			told++
			if slices.Contains(withheld, s.Value) {
				t.Errorf("%s is shown and withheld", s.Key)
			}
		}
	}
	want := []string{
		"auth.mode", "bus.mode", "computers.freeze_after", "computers.hibernate_after", "egress.mode", "listen.address", "listen.domain", "listen.scheme", "listen.shell", "microvm.vmm", "models.associate", "models.director", "models.price[0].model", "models.price[1].model",
		"models.provider[0].kind", "models.provider[0].name", "models.provider[0].region", "models.provider[1].kind", "models.provider[1].name", "models.provider[1].region",
		"runtime.mode", "storage.durability",
	}
	if slices.Sort(shown); !slices.Equal(shown, want) {
		t.Errorf("shown are\n%s", strings.Join(shown, "\n"))
	}
	if texts != told+len(withheld) {
		t.Errorf("of %d texts %d are shown and %d withheld", texts, told, len(withheld))
	}
}

func TestThePartsOfAnAddressAreWithheldToo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "choir.toml")
	if err := os.WriteFile(path, []byte("[[models.provider]]\nbase_url = 'https://zq-user:zq-word@zq-host:9/zq/path?key=zq-query'\nnonsense = ['zq-list']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := TextsOf(path)
	for _, want := range []string{"zq-user", "zq-word", "zq-host", "/zq/path", "zq-query", "zq-list", "https://zq-user:zq-word@zq-host:9/zq/path?key=zq-query"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing from %q", want, got)
		}
	}
	if words := Default().Keys(); !slices.Contains(words, "models") || !slices.Contains(words, "local") || !slices.Contains(words, "run_cost_usd") || slices.Contains(words, "zq-user") {
		t.Errorf("%q", words)
	}
}

func TestTracesGoToAnAddressWithoutAPassword(t *testing.T) {
	t.Parallel()
	for endpoint, ok := range map[string]bool{
		"": true, "http://127.0.0.1:4318": true, "https://otel.example/v1/traces": true,
		"127.0.0.1:4318": false, "ftp://x": false, "http://": false, "https://zq-user:zq-word@otel.example": false, "https://otel.example?key=zq-query": false,
	} {
		c := Default()
		c.Trace.Endpoint = endpoint
		if err := c.Check(); (err == nil) != ok || err != nil && strings.Contains(err.Error(), "zq-") {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}

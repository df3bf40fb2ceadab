package config

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/choir"
)

func TestToolchainsThatTheWordsRefuse(t *testing.T) {
	for list, at := range map[string]int{
		`["bin"]`: 0, `["/opt/../root"]`: 0, `["/opt/go/"]`: 0, `[""]`: 0, `["/a:b"]`: 0, `["/"]`: 0, `["/usr"]`: 0, `["/home"]`: 0, `["/tmp"]`: 0,
		`["/etc/alternatives"]`: 0, `["/proc/self"]`: 0, `["/run/user/1000/x"]`: 0, `["/workspace/x"]`: 0, `["/home/choir/x"]`: 0,
		`["/opt/choir"]`: 0, `["/var/tmp/x"]`: 0, `["/lib/go"]`: 0, `["/opt/go", "/opt/go/bin"]`: 1, `["/opt/go/x", "/opt/go"]`: 1,
	} {
		_, err := Parse([]byte("[runtime]\ntoolchains = " + list))
		var e *choir.Error
		if !errors.As(err, &e) || e.Code != choir.CodeInvalid || e.Path != "runtime.toolchains["+strconv.Itoa(at)+"]" {
			t.Errorf("%s: %v", list, err)
		}
	}
	if c, err := Parse([]byte(`runtime.toolchains = ["/opt/go", "/opt/gone"]`)); err != nil || len(c.Runtime.Toolchains) != 2 {
		t.Errorf("%v, %v", c.Runtime.Toolchains, err)
	}
}

// TestToolchainsThatShowTooMuch tries what only a look at the machine tells.
func TestToolchainsThatShowTooMuch(t *testing.T) {
	top := t.TempDir()
	at := func(path string) string { return filepath.Join(top, path) }
	for _, dir := range []string{"home/me/.tools/rust/bin", "home/me/.ssh", "data/keys", "cargo/bin", "keys", "sneaky"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"cargo/credentials.toml", "keys/model.key", "file"} {
		if err := os.WriteFile(at(file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "home/me", "rust": "home/me/.tools/rust", "sneaky/.ssh": "nowhere", "place": "data"} {
		if err := os.Symlink(at(to), at(link)); err != nil {
			t.Fatal(err)
		}
	}
	passwd := at("passwd")
	if err := os.WriteFile(passwd, []byte("me:x:1000:1000:Me:"+at("home/me")+":/bin/sh\nbroken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	homes, err := HomesOf(passwd)
	if err != nil || len(homes) != 1 {
		t.Fatalf("homes %q, %v", homes, err)
	}
	h := Host{Data: at("place"), Homes: homes}
	for path, want := range map[string]string{
		"home/me/.tools/rust": "", "rust": "",
		"missing": "is not a folder", "file": "is not a folder", "home/me": "home folder", "home": "home folder", "link": ".ssh", "": "home folder",
		"data": "data folder", "data/keys": "data folder", "cargo": "credentials.toml", "keys": "provider a", "sneaky": ".ssh",
	} {
		c := Default()
		c.Models.Providers = []Provider{{Name: "a", KeyFile: at("keys/model.key")}}
		c.Runtime.Toolchains = []string{at(path)}
		err := c.CheckToolchains(h)
		var e *choir.Error
		if want == "" && err != nil || want != "" && (!errors.As(err, &e) || e.Path != "runtime.toolchains[0]" || e.Remedy == "" || !strings.Contains(e.Msg, want)) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
}

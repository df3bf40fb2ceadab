package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
)

func TestRefusalsNameTheKey(t *testing.T) {
	for _, c := range []struct {
		name, toml, path string
		code             choir.Code
	}{
		{"unknown key", "[runtime]\nmod = 'local'", "runtime.mod", choir.CodeInvalid},
		{"unknown section", "[rutime]\nmode = 'local'", "rutime", choir.CodeInvalid},
		{"wrong type", "[limits]\nprocesses = 'many'", "limits.processes", choir.CodeInvalid},
		{"out of range", "[limits]\nmemory_mb = 1", "limits.memory_mb", choir.CodeInvalid},
		{"not TOML", "[limits", "line 1", choir.CodeInvalid},
		{"rung to come", "[runtime]\nmode = 'tee'", "runtime.mode", choir.CodeUnavailable},
		{"sprites without a token", "[runtime]\nmode = 'sprites'", "sprites.token_file", choir.CodeInvalid},
		{"a token in the place of its file", "[sprites]\ntoken_file = 'secret'", "sprites.token_file", choir.CodeInvalid},
		{"sprites over an open network", "[sprites]\nurl = 'http://sprites.example.com'", "sprites.url", choir.CodeInvalid},
		{"sprites at no address", "[sprites]\nurl = 'https://me:secret@sprites.example.com'", "sprites.url", choir.CodeInvalid},
		{"toolchains for sprites", "[runtime]\nmode = 'sprites'\ntoolchains = ['/usr']\n[sprites]\ntoken_file = '/token'", "runtime.toolchains", choir.CodeInvalid},
		{"engine at a relative path", "[container]\nsocket = 'engine.sock'", "container.socket", choir.CodeInvalid},
		{"machines without a kernel", "[runtime]\nmode = 'microvm'", "microvm.kernel", choir.CodeInvalid},
		{"machines of a relative path", "[microvm]\nrootfs = 'image'", "microvm.rootfs", choir.CodeInvalid},
		{"machines of a special context id", "[microvm]\nguest_cid = 2", "microvm.guest_cid", choir.CodeInvalid},
		{"a vsock in another folder", "[microvm]\nuds_path = '/run/v.sock'", "microvm.uds_path", choir.CodeInvalid},
		{"machines of an unknown program", "[microvm]\nvmm = 'bochs'", "microvm.vmm", choir.CodeInvalid},
		{"a Firecracker of a relative path", "[microvm]\nfirecracker = 'firecracker'", "microvm.firecracker", choir.CodeInvalid},
		{"a jailer of a relative path", "[microvm]\njailer = 'jailer'", "microvm.jailer", choir.CodeInvalid},
		{"machines with toolchains", "[runtime]\nmode = 'microvm'\ntoolchains = ['/usr/local/go']\n[microvm]\nkernel = '/k'\nrootfs = '/r'", "runtime.toolchains", choir.CodeInvalid},
		{"no such rung", "[runtime]\nmode = 'host'", "runtime.mode", choir.CodeInvalid},
		{"a program of gVisor's somewhere", "[runtime]\nmode = 'gvisor'\n[gvisor]\nrunsc = 'runsc'", "gvisor.runsc", choir.CodeInvalid},
		{"object store", "[storage]\nblobs_url = 's3://x'", "storage.blobs_url", choir.CodeUnavailable},
		{"no such durability", "[storage]\ndurability = 'some'", "storage.durability", choir.CodeInvalid},
		{"replicated nowhere", "[storage]\ndurability = 'replicated'", "bus.cluster", choir.CodeInvalid},
		{"a cluster for nothing", "[bus]\ncluster = ['nats://a:4222']", "bus.cluster", choir.CodeInvalid},
		{"password in an address", "[storage]\ndurability = 'replicated'\n[bus]\ncluster = ['nats://a:4222', 'nats://u:secret@b:4222']", "bus.cluster[1]", choir.CodeInvalid},
		{"no node", "[storage]\ndurability = 'replicated'\n[bus]\ncluster = ['http://a:4222']", "bus.cluster[0]", choir.CodeInvalid},
		{"no time for the cluster", "[bus]\ncluster_timeout = 0", "bus.cluster_timeout", choir.CodeInvalid},
		{"remote", "[git]\nremote_template = 'x'", "git.remote_template", choir.CodeInvalid},
		{"a remote with a password", "[git]\nremote_template = 'https://me:secret@git.example.com/{project}'", "git.remote_template", choir.CodeInvalid},
		{"attestation", "[tee]\nattestation_server = 'x'", "tee.attestation_server", choir.CodeUnavailable},
		{"key server", "[tee]\nkey_server = 'x'", "tee.key_server", choir.CodeUnavailable},
		{"login", "[auth]\nmode = 'passkey'", "auth.mode", choir.CodeUnavailable},
		{"not a number", "[limits]\nrun_cost_usd = nan", "limits.run_cost_usd", choir.CodeInvalid},
		{"no end", "[limits]\nday_cost_usd = inf", "limits.day_cost_usd", choir.CodeInvalid},
		{"port", "[listen]\naddress = '127.0.0.1:99999'", "listen.address", choir.CodeInvalid},
		{"shell in capitals", "[listen]\nshell = 'Choir.localhost'", "listen.shell", choir.CodeInvalid},
		{"shell with a port", "[listen]\nshell = 'choir.localhost:80'", "listen.shell", choir.CodeInvalid},
		{"a domain that is none", "[listen]\ndomain = '.localhost'", "listen.domain", choir.CodeInvalid},
		{"no such scheme", "[listen]\nscheme = 'ftp'", "listen.scheme", choir.CodeInvalid},
		{"no such port", "[listen]\npublic_port = 65536", "listen.public_port", choir.CodeInvalid},
		{"a shell in the clear", "[listen]\nshell = 'choir.example.org'", "listen.scheme", choir.CodeInvalid},
		{"desktops in the clear", "[listen]\ndomain = 'desktops.example'", "listen.scheme", choir.CodeInvalid},
		{"desktops of the shell's site", "[listen]\nscheme = 'https'\nshell = 'choir.example.org'\ndomain = 'desktops.example.org'", "listen.domain", choir.CodeInvalid},
		{"desktops below the shell", "[listen]\nscheme = 'https'\nshell = 'choir.example.org'\ndomain = 'choir.example.org'", "listen.domain", choir.CodeInvalid},
		{"no address", "[[models.provider]]\nname = 'a'\nkind = 'openai'\nbase_url = 'file:///etc'", "models.provider[0].base_url", choir.CodeInvalid},
		{"key in the clear", "[[models.provider]]\nname = 'a'\nkind = 'openai'\nbase_url = 'http://10.0.0.1/v1'\nkey_env = 'K'", "models.provider[0].base_url", choir.CodeInvalid},
		{"address", "[listen]\naddress = 'nowhere'", "listen.address", choir.CodeInvalid},
		{"unknown provider", "[models]\ndirector = 'x/y'", "models.director", choir.CodeInvalid},
		{"provider kind", "[[models.provider]]\nname = 'a'\nkind = 'b'", "models.provider[0].kind", choir.CodeInvalid},
		{"no such egress", "[egress]\nmode = 'open'", "egress.mode", choir.CodeInvalid},
		{"a key of egress", "[egress]\nmodes = 'none'", "egress.modes", choir.CodeInvalid},
		{"room for less than no packages", "[egress]\npackage_cache_mb = -1", "egress.package_cache_mb", choir.CodeInvalid},
		{"hosts for none", "[[egress.allowlist]]\nhost = 'a.test'", "egress.allowlist", choir.CodeInvalid},
		{"an address for a host", "[egress]\nmode = 'allowlist'\n[[egress.allowlist]]\nhost = 'a.test'\n[[egress.allowlist]]\nhost = 'https://b.test'", "egress.allowlist[1].host", choir.CodeInvalid},
		{"a path with escapes", "[egress]\nmode = 'git+pkg'\n[[egress.allowlist]]\nhost = 'a.test'\npaths = ['/%2e']", "egress.allowlist[0].paths", choir.CodeInvalid},
		{"a key of a host", "[egress]\nmode = 'git+pkg'\n[[egress.allowlist]]\nhosts = 'a.test'", "egress.allowlist.hosts", choir.CodeInvalid},
		{"no key", "[[models.provider]]\nname = 'a'\nkind = 'anthropic'", "models.provider[0].key_file", choir.CodeInvalid},
		{"no key of the service itself", "[[models.provider]]\nname = 'a'\nkind = 'anthropic'\nfree = true", "models.provider[0].key_file", choir.CodeInvalid},
		{"no key of bedrock", "[[models.provider]]\nname = 'a'\nkind = 'bedrock'\nfree = true\nbase_url = 'http://127.0.0.1:1'", "models.provider[0].key_file", choir.CodeInvalid},
		{"two keys", "[[models.provider]]\nname = 'a'\nkind = 'openai'\nkey_file = 'x'\nkey_env = 'Y'", "models.provider[0].key_env", choir.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.toml))
			var e *choir.Error
			if !errors.As(err, &e) || e.Path != c.path || e.Code != c.code {
				t.Fatalf("got %v, want code %s at %s", err, c.code, c.path)
			}
		})
	}
}

func TestEveryKeyIsDocumentedAndItsOriginKnown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "choir.toml")
	if err := os.WriteFile(file, []byte("[git]\nauto_commit_interval = 60\nauto_commit_threshold = 50\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, from, err := Load("", filepath.Join(t.TempDir(), "absent.toml"), file)
	if err != nil || from != file {
		t.Fatalf("loaded %q: %v", from, err)
	}
	for _, s := range c.List(from) {
		if s.Doc == "" {
			t.Errorf("%s has no documentation", s.Key)
		}
		want := "default"
		// The second is set to what is the default too.
		if s.Key == "git.auto_commit_interval" || s.Key == "git.auto_commit_threshold" {
			want = file
		}
		if s.From != want {
			t.Errorf("%s comes from %s, want %s", s.Key, s.From, want)
		}
	}
}

func TestARefusedNodeIsNotRepeated(t *testing.T) {
	_, err := Parse([]byte("[storage]\ndurability = 'replicated'\n[bus]\ncluster = ['nats://u:secret@b:4222']"))
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("the refusal is %v", err)
	}
	c, err := Parse([]byte("[storage]\ndurability = 'replicated'\n[bus]\ncluster = ['nats://a:4222', 'tls://b:4222']\ncluster_credentials = 'f'\ncluster_timeout = 9"))
	if err != nil || len(c.Bus.Cluster) != 2 || c.Bus.ClusterTimeout != 9 {
		t.Errorf("%+v, %v", c.Bus, err)
	}
}

func TestAnExplicitFileMustExist(t *testing.T) {
	if _, _, err := Load(filepath.Join(t.TempDir(), "no.toml")); choir.CodeOf(err) != choir.CodeNotFound {
		t.Fatalf("got %v", err)
	}
}

func TestAFileThatCannotBeReadIsNotTakenForNone(t *testing.T) {
	if _, _, err := Load("", t.TempDir()); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Fatalf("a folder in its place: %v", err)
	}
}

func TestALocalModelNeedsNoEncryption(t *testing.T) {
	_, err := Parse([]byte("[[models.provider]]\nname = 'a'\nkind = 'openai'\nbase_url = 'http://127.0.0.1:11434/v1'\nkey_env = 'K'"))
	if err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("[runtime]\nmode = 'local'\n")
	f.Add("[limits]\nprocesses = 'x'")
	f.Add("runtime.toolchains = ['/opt/go', '/opt/go/../x', 'y:']")
	f.Fuzz(func(t *testing.T, s string) {
		_, err := Parse([]byte(s))
		var e *choir.Error
		if err != nil && (!errors.As(err, &e) || e.Path == "") {
			t.Fatalf("a refusal without a path: %v", err)
		}
	})
}

func TestRulesOfApprovalAreReadAndWrongOnesNamed(t *testing.T) {
	c, err := Parse([]byte("[[approve]]\nname = 'deploys'\ncommand = 'deploy'\n[[approve]]\npath = 'app/db/**'\nlines = 10\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Policy()
	if err != nil || p.Empty() || len(c.Approve) != 2 || c.Approve[1].Lines != 10 {
		t.Errorf("%+v, %v", c.Approve, err)
	}
	for text, path := range map[string]string{
		"[[approve]]\nname = 'x'":                       "approve[0]",
		"[[approve]]\nlines = 1\n[[approve]]\ntool='x'": "approve[1].tool",
		"[[approve]]\nlinse = 1":                        "approve.linse",
	} {
		_, err := Parse([]byte(text))
		var e *choir.Error
		if !errors.As(err, &e) || e.Path != path {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, s := range c.List("file") {
		if s.Key == "approve" && (s.From != "file" || s.Doc == "") {
			t.Errorf("%+v", s)
		}
	}
	for _, s := range c.Shown() {
		if s.Key == "approve[0].command" && s.Value != withheldSet {
			t.Errorf("a report shows %+v", s)
		}
	}
}

// TestTablesAreListedAsTheyAreWritten reads a file with tables, among them a provider of
// Anthropic's kind without a key, and wants the lines that a person would write.
func TestTablesAreListedAsTheyAreWritten(t *testing.T) {
	c, err := Parse([]byte("[models]\n[[models.provider]]\nname = 'own'\nkind = 'anthropic'\nbase_url = 'http://127.0.0.1:1234'\nfree = true\n" +
		"[[models.role]]\nrole = 'director'\nmodels = ['own/a', 'own/b']\neffort = 'high'\n" +
		"[egress]\nmode = 'allowlist'\n[[egress.allowlist]]\nhost = 'a.test'\nport = 80\nmethods = ['GET', 'HEAD']\n[[egress.allowlist]]\nhost = 'b.test'\n" +
		"[[approve]]\nname = 'migrations'\npath = 'app/db/**'\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"models.provider":    `[{name = "own", kind = "anthropic", base_url = "http://127.0.0.1:1234", free = true}]`,
		"models.role":        `[director: own/a, own/b, effort high]`,
		"models.price":       `[]`,
		"egress.allowlist":   `[{host = "a.test", port = 80, methods = ["GET", "HEAD"]}, {host = "b.test"}]`,
		"approve":            `[{name = "migrations", path = "app/db/**"}]`,
		"runtime.toolchains": `[]`,
	}
	for _, s := range c.List("file") {
		if text, ok := want[s.Key]; ok && s.Value != text {
			t.Errorf("%s is listed as %s, want %s", s.Key, s.Value, text)
		}
		delete(want, s.Key)
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
}

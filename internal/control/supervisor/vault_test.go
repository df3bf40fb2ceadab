package supervisor_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/controltest"
	"choiros/internal/keyring"
)

// TestAKeyThatIsTakenAwayCutsWhatIsUnderWayWithIt has a task ask a host that does not answer, with a
// key that is then set anew, and with one that is removed: the task goes on, without an answer.
func TestAKeyThatIsTakenAwayCutsWhatIsUnderWayWithIt(t *testing.T) {
	f := newForge(t)
	f.held = make(chan struct{}, 8)
	p := controltest.StartWith(t, f.config(t, newData(t), ""))
	parts, c := partsOfOnly(t, p)
	b := choir.VaultBinding{Use: choir.VaultForHeader, Host: "git.test", Port: 443, Paths: []string{"/api"}, Computer: c.ID(), Header: "Authorization", Prefix: "Bearer "}
	set := func() error {
		_, err := parts.Vault.Set(t.Context(), choir.RoleCLI, "api", token, b)
		return err
	}
	for name, takeAway := range map[string]func() error{
		"set anew": set,
		"removed":  func() error { return parts.Vault.Remove(t.Context(), choir.RoleCLI, "api") },
	} {
		if err := set(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), controltest.Patience)
		took := make(chan error, 1)
		go func() {
			select {
			case <-f.held:
				took <- takeAway()
			case <-ctx.Done():
				took <- ctx.Err()
			}
		}()
		began := time.Now()
		task, r := executeTask(t, p, nil, "curl -sS --max-time 100 -w ' %{http_code}' http://key.choir.internal/git.test/api/slow")
		cancel()
		if err := <-took; err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		passed := passages(t, p, task)
		if len(r.CommandsRun) != 1 || time.Since(began) > controltest.Patience || len(passed) != 1 || passed[0].Cut != "credential" || passed[0].Credential != "api" {
			t.Errorf("%s: %s, %+v, recorded %+v", name, r.Summary, r.CommandsRun, passed)
		}
	}
}

// deadly is a vault that kills its process after a change is durable, before the event of it, or
// after the event, before the vault knows of that.
type deadly struct {
	keyring.Vault
	at string
}

func (d deadly) die(at string) {
	if d.at == at {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (d deadly) Set(ctx context.Context, name, key string, bound *choir.VaultBinding, by keyring.Change, replaces func(keyring.Entry) error) error {
	err := d.Vault.Set(ctx, name, key, bound, by, replaces)
	d.die("set")
	return err
}

func (d deadly) Remove(ctx context.Context, name string, by keyring.Change, permits func(keyring.Entry) error) error {
	err := d.Vault.Remove(ctx, name, by, permits)
	d.die("removed")
	return err
}

func (d deadly) Told(ctx context.Context, u keyring.Untold) error {
	d.die("told")
	return d.Vault.Told(ctx, u)
}

// TestAChangeOfTheVaultThatAKillCutsOffIsTold kills a control plane between the write of the vault
// and its event, and between the event and the vault's note of it, and holds that the log of the
// next one says what the vault has, once.
func TestAChangeOfTheVaultThatAKillCutsOffIsTold(t *testing.T) {
	if said := os.Getenv(child); said != "" {
		changeAndDie(t, said)
	}
	for at, want := range map[string][]string{"set": {"set"}, "told": {"set"}, "removed": {"set", "removed"}} {
		t.Run(at, func(t *testing.T) {
			data := newData(t)
			cmd := exec.Command(os.Args[0], "-test.run=^TestAChangeOfTheVaultThatAKillCutsOffIsTold$")
			cmd.Env = append(os.Environ(), child+"="+data+" "+at)
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			_ = cmd.Run() // it is killed
			if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
				t.Fatalf("the control plane ended by itself: %s\n%s", cmd.ProcessState, said.String())
			}
			for _, start := range []string{"the next start", "the one after it"} {
				t.Run(start, func(t *testing.T) { vaultSays(t, data, want) })
			}
		})
	}
}

// vaultSays starts a control plane and holds what its log says of the vault, and what the vault has.
func vaultSays(t *testing.T, data string, want []string) {
	t.Helper()
	p := controltest.StartWith(t, controltest.Config(t, data))
	for _, one := range p.Hibernated() { // what was closed in order
		_, release, err := p.Use(t.Context(), one.ID)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	parts, c := partsOfOnly(t, p)
	var got []string
	for e, err := range c.Store().Events(t.Context(), 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if word, ok := strings.CutPrefix(string(e.Type), "vault."); ok {
			got = append(got, word)
			if e.Source != choir.SourceUser || !strings.Contains(string(e.Payload), `"forge"`) {
				t.Errorf("%s of %s: %s", e.Type, e.Source, e.Payload)
			}
		}
	}
	list, err := parts.Vault.List(t.Context())
	if err != nil || !slices.Equal(got, want) || (len(list) == 1) != (want[len(want)-1] == "set") {
		t.Errorf("the log says %q, not %q; the vault has %+v, %v", got, want, list, err)
	}
}

// changeAndDie is the control plane that is killed while it sets or removes a key.
func changeAndDie(t *testing.T, said string) {
	t.Helper()
	data, at, _ := strings.Cut(said, " ")
	cfg := controltest.Config(t, data)
	cfg.Vault = deadly{cfg.Vault, at}
	p := controltest.StartWith(t, cfg)
	bind(t, p, "git.test", "/mine.git")
	parts, _ := partsOfOnly(t, p)
	err := parts.Vault.Remove(t.Context(), choir.RoleCLI, "forge")
	t.Fatalf("nobody killed it: %v", err)
}

package connections_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/connections"
	"choiros/internal/keyring"
	"choiros/internal/model/wiretest"
)

func TestKeysWithoutAServiceAreSwept(t *testing.T) {
	server := serves(t, wiretest.Anthropic, good)
	d := open(t, t.TempDir(), config.Models{})
	if _, err := d.Connect(t.Context(), claude(server.URL), try); err != nil {
		t.Fatal(err)
	}
	if err := d.keys.Put(t.Context(), "left.by.a.crash", secret); err != nil {
		t.Fatal(err)
	}
	if err := d.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if names, err := d.keys.Names(t.Context()); err != nil || !slices.Equal(names, []string{"anthropic"}) {
		t.Errorf("kept: %v, %v", names, err)
	}
}

// What is in force where choir was opened may be older than what another choir
// acknowledged before this one had the data folder.
func TestASweepKeepsTheKeyThatAnotherChoirAcknowledged(t *testing.T) {
	server := serves(t, wiretest.Anthropic, good)
	waits := open(t, t.TempDir(), config.Models{})
	runs := open(t, waits.data, config.Models{})
	if _, err := runs.Connect(t.Context(), claude(server.URL), try); err != nil {
		t.Fatal(err)
	}
	if err := waits.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if names, err := waits.keys.Names(t.Context()); err != nil || !slices.Equal(names, []string{"anthropic"}) {
		t.Errorf("kept: %v, %v", names, err)
	}
	if m := waits.Models(); m.Director != "anthropic/claude-sonnet-4-5" {
		t.Errorf("in force after the sweep: %+v", m)
	}
}

func TestASweepOfAnUnreadableFileRemovesNoKey(t *testing.T) {
	server := serves(t, wiretest.Anthropic, good)
	d := open(t, t.TempDir(), config.Models{})
	if _, err := d.Connect(t.Context(), claude(server.URL), try); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.data, config.ConnectedFile), []byte("director = "), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Sweep(t.Context()); err == nil {
		t.Error("a damaged file was swept by")
	}
	if names, err := d.keys.Names(t.Context()); err != nil || !slices.Equal(names, []string{"anthropic"}) {
		t.Errorf("kept: %v, %v", names, err)
	}
}

// faulty is a keyring whose next Put or Delete fails.
type faulty struct {
	keyring.Keeper
	put, remove error
}

func (f *faulty) Put(ctx context.Context, name, key string) error {
	if err := f.put; err != nil {
		f.put = nil
		return err
	}
	return f.Keeper.Put(ctx, name, key)
}

func (f *faulty) Delete(ctx context.Context, name string) error {
	if err := f.remove; err != nil {
		f.remove = nil
		return err
	}
	return f.Keeper.Delete(ctx, name)
}

func TestARemovalThatFailedCanBeRepeated(t *testing.T) {
	server := serves(t, wiretest.Anthropic, good)
	d := open(t, t.TempDir(), config.Models{})
	d.faults.remove = choir.E("test", choir.CodeUnavailable, "the disk is read-only")
	if _, err := d.Connect(t.Context(), claude(server.URL), try); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(d.data, "models", "anthropic")
	if err := d.Disconnect(t.Context(), "anthropic"); choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "is removed, but its key is not") || !strings.Contains(err.Error(), path) {
		t.Errorf("a key that cannot be removed: %v", err)
	}
	if err := d.Disconnect(t.Context(), "anthropic"); err != nil {
		t.Errorf("the second time: %v", err)
	}
	if names, err := d.keys.Names(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("left: %v, %v", names, err)
	}
	if err := d.Disconnect(t.Context(), "anthropic"); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("the third time: %v", err)
	}
}

func TestAChangeThatFailsLeavesTheFormerConnectionOrSaysThatItIsGone(t *testing.T) {
	for _, c := range []struct {
		name  string
		fails error
		stays bool
	}{
		{"no new key", choir.E("test", choir.CodeUnavailable, "no space is left"), true},
		{"perhaps a new key", fmt.Errorf("%w: the disk is gone", keyring.ErrUncertain), false},
	} {
		former, next := serves(t, wiretest.Anthropic, good), serves(t, wiretest.Anthropic, good)
		d := open(t, t.TempDir(), config.Models{})
		if _, err := d.Connect(t.Context(), claude(former.URL), try); err != nil {
			t.Fatal(err)
		}
		d.faults.put = c.fails
		_, err := d.Connect(t.Context(), claude(next.URL), try)
		if !errors.Is(err, c.fails) || c.stays == strings.Contains(err.Error(), "the former connection of anthropic is removed") {
			t.Errorf("%s: %v", c.name, err)
		}
		for range 2 {
			if m := d.Models(); m.Connected != c.stays {
				t.Errorf("%s: in force: %+v", c.name, m)
			}
			d = open(t, d.data, d.file) // a restart
		}
		if !c.stays {
			continue
		}
		if _, err := try(t.Context(), d.Routing().Routes["director"], nil); err != nil {
			t.Errorf("%s: along the former route: %v", c.name, err)
		}
	}
}

func TestChecksSayWhatIsWrongWithKeyAndService(t *testing.T) {
	server := serves(t, wiretest.Anthropic, good)
	d := open(t, t.TempDir(), config.Models{})
	if _, err := d.Connect(t.Context(), claude(server.URL), try); err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Check(t.Context()) {
		if !c.OK {
			t.Errorf("%+v", c)
		}
	}
	before := len(server.Requests())
	server.Close()
	path := filepath.Join(d.data, "models", "anthropic")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, c := range d.Check(t.Context()) {
		if c.OK {
			t.Errorf("%+v", c)
		}
		said += c.Name + ": " + c.Detail + "; "
	}
	for _, want := range []string{"key of anthropic: others can read the key file " + path, "service anthropic: " + server.URL + " cannot be reached: "} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in %q", want, said)
		}
	}
	if len(server.Requests()) != before {
		t.Error("a check called the model")
	}
}

func TestADamagedFileIsRefusedByName(t *testing.T) {
	data := t.TempDir()
	path := filepath.Join(data, config.ConnectedFile)
	if err := os.WriteFile(path, []byte("director = \"gone/m\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := connections.Open(connections.Config{Data: data})
	if choir.CodeOf(err) != choir.CodeInvalid || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}

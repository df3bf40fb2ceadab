package microvm_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/microvm"
	"choiros/internal/sandbox/microvm/firecrackertest"
	"choiros/internal/sandbox/sandboxtest"
)

// copied returns the spec of an Associate whose workspace is a disk.
func copied(t testing.TB) sandbox.Spec {
	spec := sandboxtest.NewSpec(t, choir.RoleAssociate)
	spec.Mounts = []sandbox.Mount{sandbox.Workspace("", sandbox.TransportCopy)}
	return spec
}

// TestAFrozenSandboxGoesOn freezes a sandbox in a jail, and without one, and thaws it twice
// with another driver: its file is there, also in the second, which does not see the first's.
func TestAFrozenSandboxGoesOn(t *testing.T) {
	t.Parallel()
	for _, jail := range []bool{false, true} {
		dir := sandboxtest.DataDir(t)
		config := standInConfig(t, dir)
		config.Jailer = microvm.NoJailer
		if jail {
			config = jailedConfig(t, dir)
		}
		spec, folder := copied(t), filepath.Join(dir, "frozen")
		freeze(t, config, spec, folder)
		sandboxtest.NothingLeft(t, spec)
		if left := roomsLeft(t, dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		d := microvm.New(config)
		defer d.Close()
		for range 2 {
			b, err := d.Thaw(t.Context(), spec, folder)
			if err != nil {
				t.Fatal(err)
			}
			client := guest.NewClient(b.Dial)
			r, err := client.ReadFile(t.Context(), "file")
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(r); string(text) != "text" || err != nil {
				t.Errorf("the file has %q, %v", text, err)
			}
			r.Close()
			if _, err := client.Stat(t.Context(), "new"); choir.CodeOf(err) != choir.CodeNotFound {
				t.Errorf("a file of another thawed sandbox: %v", err)
			}
			if _, err := client.WriteFile(t.Context(), "new", 0, strings.NewReader("x")); err != nil {
				t.Error(err)
			}
			if err := b.Destroy(t.Context()); err != nil {
				t.Error(err)
			}
			sandboxtest.NothingLeft(t, spec)
		}
	}
}

// freeze makes a sandbox with a file and freezes it.
func freeze(t *testing.T, config microvm.Config, spec sandbox.Spec, folder string) {
	t.Helper()
	d := microvm.New(config)
	defer d.Close()
	b, err := d.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := guest.NewClient(b.Dial).WriteFile(t.Context(), "file", 0, strings.NewReader("text")); err != nil {
		t.Fatal(err)
	}
	// A monitor whose processes stand still goes on first. Machines without cgroups pause nothing.
	if err := b.(sandbox.Pauser).Pause(t.Context()); err != nil && choir.CodeOf(err) != choir.CodeUnavailable {
		t.Fatal(err)
	}
	if err := d.Freeze(t.Context(), b, folder); err != nil {
		t.Fatal(err)
	}
	select {
	case <-b.Done():
	default:
		t.Error("a frozen sandbox has not ended")
	}
	if err := d.Freeze(t.Context(), b, folder+"2"); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("frozen again: %v", err)
	}
}

// TestWhatCannotBeFrozenRunsOn freezes into a folder that is there, and a sandbox of another
// driver.
func TestWhatCannotBeFrozenRunsOn(t *testing.T) {
	t.Parallel()
	dir := sandboxtest.DataDir(t)
	config := standInConfig(t, dir)
	config.Jailer = microvm.NoJailer
	d := microvm.New(config)
	defer d.Close()
	b, err := d.Create(t.Context(), copied(t))
	if err != nil {
		t.Fatal(err)
	}
	rooms := roomsLeft(t, dir)
	// The disk is in the way of the copy.
	disk := filepath.Join(rooms[0], "root", "disk")
	if err := os.Rename(disk, disk+"2"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", disk); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "frozen")
	if err := d.Freeze(t.Context(), b, folder); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("a machine whose disk is a link: %v", err)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("a folder is left: %v", err)
	}
	if err := d.Freeze(t.Context(), b, dir); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("a folder that is there: %v", err)
	}
	if err := d.Freeze(t.Context(), nil, folder); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("another's sandbox: %v", err)
	}
	if _, err := guest.NewClient(b.Dial).Hello(t.Context()); err != nil {
		t.Errorf("it does not run on: %v", err)
	}
	if _, err := os.Stat(filepath.Join(rooms[0], "root", "snapshot.memory")); !os.IsNotExist(err) {
		t.Errorf("its memory is left in a file: %v", err)
	}
	if err := b.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestAFreezeWhoseContextEndsLosesNothing ends the context of a freeze while the disk is copied, which is a
// hole that would take minutes to read, and when everything is copied and the machine is about to be
// killed: the sandbox runs on, or its folder is whole.
func TestAFreezeWhoseContextEndsLosesNothing(t *testing.T) {
	t.Parallel()
	for at, size := range map[string]int64{"disk": 1 << 40, "frozen.json": 0} {
		dir := sandboxtest.DataDir(t)
		config := standInConfig(t, dir)
		config.Jailer = microvm.NoJailer
		d := microvm.New(config)
		defer d.Close()
		spec, folder := copied(t), filepath.Join(dir, "frozen")
		b, err := d.Create(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if size > 0 {
			if err := os.Truncate(filepath.Join(roomsLeft(t, dir)[0], "root", "disk"), size); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		frozen := make(chan error, 1)
		go func() { frozen <- d.Freeze(ctx, b, folder) }()
		tick := time.NewTicker(100 * time.Microsecond)
		defer tick.Stop()
		for _, err := os.Stat(filepath.Join(folder, at)); err != nil && len(frozen) == 0; _, err = os.Stat(filepath.Join(folder, at)) {
			<-tick.C
		}
		cancel()
		err = <-frozen
		t.Logf("%s: %v", at, err)
		if err != nil {
			checkNotFrozen(t, b, folder)
		} else if b, err = d.Thaw(t.Context(), spec, folder); err != nil {
			t.Fatalf("%s: the folder cannot be used: %v", at, err)
		}
		if err == nil && size > 0 {
			t.Errorf("%s: it was frozen without a context", at)
		}
		if err := b.Destroy(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// checkNotFrozen checks that a sandbox answers, and that there is no folder of it.
func checkNotFrozen(t *testing.T, b sandbox.Sandbox, folder string) {
	t.Helper()
	within, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := guest.NewClient(b.Dial).Hello(within); err != nil {
		t.Errorf("it does not run on: %v", err)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("a folder is left: %v", err)
	}
}

// TestAMachineThatWasPausedWithoutAnAnswerGoesOn freezes a sandbox whose monitor pauses it and does
// not say so.
func TestAMachineThatWasPausedWithoutAnAnswerGoesOn(t *testing.T) {
	t.Parallel()
	dir := sandboxtest.DataDir(t)
	config := standInConfig(t, dir)
	config.Firecracker += firecrackertest.Mute
	config.Jailer, config.WithoutTrial = microvm.NoJailer, true
	d := microvm.New(config)
	defer d.Close()
	b, err := d.Create(t.Context(), copied(t))
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	folder := filepath.Join(dir, "frozen")
	if err := d.Freeze(short, b, folder); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("%v", err)
	}
	checkNotFrozen(t, b, folder)
	if err := b.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFrozenSandboxesThatCannotBeUsed thaws a folder for another computer, with another image,
// and with a broken state. Nothing is left of any attempt.
func TestFrozenSandboxesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	dir := sandboxtest.DataDir(t)
	config := standInConfig(t, dir)
	config.Jailer = microvm.NoJailer
	spec, folder := copied(t), filepath.Join(dir, "frozen")
	freeze(t, config, spec, folder)
	d := microvm.New(config)
	defer d.Close()
	_, err := d.Thaw(t.Context(), copied(t), folder)
	wantCode(t, err, choir.CodeConflict)
	without := spec
	without.Mounts = nil
	_, err = d.Thaw(t.Context(), without, folder)
	wantCode(t, err, choir.CodeConflict)
	_, err = d.Thaw(t.Context(), spec, filepath.Join(dir, "none"))
	wantCode(t, err, choir.CodeUnavailable)
	if err := os.WriteFile(filepath.Join(folder, "snapshot.state"), []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = d.Thaw(t.Context(), spec, folder)
	wantCode(t, err, choir.CodeUnavailable)
	if err == nil || !strings.Contains(err.Error(), "Load snapshot error") {
		t.Errorf("the reason is not said: %v", err)
	}
	sandboxtest.NothingLeft(t, spec)
	if left := roomsLeft(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	description := filepath.Join(folder, "frozen.json")
	text, err := os.ReadFile(description)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(description, []byte(strings.Replace(string(text), `"root":"`, `"root":"0`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = d.Thaw(t.Context(), spec, folder)
	wantCode(t, err, choir.CodeConflict)
}

func wantCode(t *testing.T, err error, code choir.Code) {
	t.Helper()
	if choir.CodeOf(err) != code {
		t.Errorf("got %v, wanted code %s", err, code)
	}
}

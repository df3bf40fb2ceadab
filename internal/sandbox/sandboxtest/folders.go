package sandboxtest

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/blob/fs"
	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/sandboxtest/probed"
	"choiros/internal/snapshot"
)

// carried checks that a snapshot of a copied workspace can be restored in the next
// sandbox, for drivers that copy workspaces.
func (s suite) carried(t *testing.T) {
	if !slices.Contains(s.driver.Capabilities().Transports, sandbox.TransportCopy) {
		t.Skip("the driver copies no workspaces")
	}
	copied := func(spec *sandbox.Spec) { spec.Mounts = []sandbox.Mount{sandbox.Workspace("", sandbox.TransportCopy)} }
	blobs, err := fs.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	keeper, ctx := snapshot.NewKeeper(blobs), timeout(t)

	first := s.create(t, choir.RoleAssociate, copied)
	empty := scan(t, first, keeper)
	if out := first.run(t, play(probed.Put, "by-program", "program")...); out.Exit.Code != 0 {
		t.Fatalf("a copied workspace cannot be written to: %s", out.Stderr)
	}
	if err := first.client.Mkdir(ctx, "empty-folder", 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := first.client.WriteFile(ctx, "empty-folder/by-client", 0, strings.NewReader(strings.Repeat("client", 1<<18))); err != nil {
		t.Fatal(err)
	}
	whole := scan(t, first, keeper)
	destroy(t, first)
	s.untouched(t, first.spec)

	second := s.create(t, choir.RoleAssociate, copied)
	if got := scan(t, second, keeper); !sameBelow(t, keeper, got, empty) {
		t.Errorf("a new workspace is %s, the first one was %s", got, empty)
	}
	done, err := second.client.Restore(ctx, whole, keeper, guest.RestoreOptions{})
	if err != nil || done.Root != whole {
		t.Fatalf("%+v, %v", done, err)
	}
	r, err := second.client.ReadFile(ctx, "by-program")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); string(got) != "program" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got := scan(t, second, keeper); got != whole {
		t.Errorf("it was %s and is %s", whole, got)
	}
}

// sameBelow reports whether two trees are equal apart from the root folder's time.
func sameBelow(t *testing.T, k *snapshot.Keeper, a, b choir.Digest) bool {
	t.Helper()
	diff, err := snapshot.Diff(timeout(t), k, a, b)
	if err != nil {
		t.Fatal(err)
	}
	return !slices.ContainsFunc(diff, func(c snapshot.Change) bool { return c.Path != "" || !c.TimeOnly() })
}

func scan(t *testing.T, b inside, k *snapshot.Keeper) choir.Digest {
	t.Helper()
	got, err := b.client.Scan(timeout(t), k)
	if err != nil {
		t.Fatal(err)
	}
	return got.Root
}

// untouched checks that the host folder that a bound workspace would have is empty.
func (s suite) untouched(t *testing.T, spec sandbox.Spec) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(filepath.Dir(spec.Doors), "workspace"))
	if err != nil || len(entries) > 0 {
		t.Errorf("on the host are %v, %v", entries, err)
	}
}

// mounts checks the mounts of host folders, or that a driver without mounts refuses them.
func (s suite) mounts(t *testing.T) {
	folder := func(content string) string {
		dir := DataDir(t)
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	artifacts, fixed, own := folder("artifact"), folder("fixed"), folder("own")
	add := func(spec *sandbox.Spec) {
		setOwner(t, own, spec.UID, spec.UID, 0o700)
		for _, dir := range []string{artifacts, fixed} {
			setOwner(t, dir, spec.UID, spec.UID, 0o755) // whose user may write there, but for the mount
		}
		spec.Mounts = append(spec.Mounts,
			sandbox.Mount{Kind: sandbox.MountArtifacts, Folder: artifacts, Target: "/run/artifacts", ReadOnly: true},
			sandbox.Mount{Kind: sandbox.MountHost, Folder: fixed, Target: "/run/fixed", ReadOnly: true},
			sandbox.Mount{Kind: sandbox.MountHost, Folder: own, Target: "/run/own"})
	}
	if !s.driver.Capabilities().Mounts {
		spec := s.spec(t, choir.RoleAssociate)
		add(&spec)
		_, err := s.driver.Create(timeout(t), spec)
		wantCode(t, err, choir.CodeUnavailable)
		return
	}
	b := s.create(t, choir.RoleAssociate, add)
	for path, want := range map[string]string{"/run/artifacts/f": "artifact", "/run/fixed/f": "fixed", "/run/own/f": "own"} {
		if got := value[string](t, b.probe(t, "read", path)); got != want {
			t.Errorf("%s is %q", path, got)
		}
	}
	for _, path := range []string{"/run/artifacts/x", "/run/artifacts/f", "/run/fixed/x", "/run/x"} {
		b.refused(t, readOnly, "write", path)
	}
	if r := b.probe(t, "write", "/run/own/x"); r.Error != "" {
		t.Error(r.Error)
	}
	if _, err := os.Stat(filepath.Join(own, "x")); err != nil {
		t.Errorf("what was written inside is not on the host: %v", err)
	}
	destroy(t, b)
	for _, dir := range []string{artifacts, fixed, own} {
		if _, err := os.Stat(filepath.Join(dir, "f")); err != nil {
			t.Errorf("a folder of the host was emptied with the sandbox: %v", err)
		}
	}
}

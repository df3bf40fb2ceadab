package desktop

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"choiros/internal/choir"
)

// archive packs headers, with their names as contents of files.
func archive(t *testing.T, headers ...tar.Header) func() (io.ReadCloser, error) {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, h := range headers {
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(h.Name))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := io.WriteString(w, h.Name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil }
}

var packages = []tar.Header{
	{Typeflag: tar.TypeDir, Name: "react/", Mode: 0o700},
	{Typeflag: tar.TypeReg, Name: "react/index.js", Mode: 0o600},
	{Typeflag: tar.TypeDir, Name: ".bin/", Mode: 0o755},
	{Typeflag: tar.TypeReg, Name: "react/cli.js", Mode: 0o755},
	{Typeflag: tar.TypeSymlink, Name: ".bin/react", Linkname: "../react/cli.js"},
}

var tools = []tar.Header{
	{Typeflag: tar.TypeReg, Name: ".tools", Mode: 0o644},
	{Typeflag: tar.TypeDir, Name: "vitest/", Mode: 0o755},
	{Typeflag: tar.TypeReg, Name: "vitest/index.js", Mode: 0o644},
}

// TestToolsComeAfterThePackagesAndTheirMarkLast: a check takes the mark for all of the tools.
func TestToolsComeAfterThePackagesAndTheirMarkLast(t *testing.T) {
	m := NewModules(t.TempDir(), "abc", archive(t, packages...), archive(t, tools...))
	if err := m.Unpack(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(m.Folder(), "vitest")); !os.IsNotExist(err) {
		t.Errorf("a server waits for the tools: %v", err)
	}
	blocked := filepath.Join(m.Folder(), "vitest")
	m.tools = archive(t, append(tools[:2:2], tar.Header{Typeflag: tar.TypeFifo, Name: "vitest/index.js"})...)
	if err := m.UnpackTools(t.Context()); choir.CodeOf(err) != choir.CodeCorrupt && choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("an archive that is broken: %v", err)
	}
	for _, none := range []string{blocked, filepath.Join(m.Folder(), ".tools")} {
		if _, err := os.Stat(none); !os.IsNotExist(err) {
			t.Errorf("%s is there after a failure: %v", none, err)
		}
	}
	m.tools = archive(t, tools...)
	for range 2 {
		if err := m.UnpackTools(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"react/index.js", "vitest/index.js", ".tools"} {
		if _, err := os.Stat(filepath.Join(m.Folder(), name)); err != nil {
			t.Error(err)
		}
	}
}

func TestPackagesAreUnpackedIntoAFolderThatIsBoundAlready(t *testing.T) {
	parent := t.TempDir()
	m := NewModules(parent, "abc", archive(t, packages...), archive(t, tools...))
	if err := os.MkdirAll(m.Folder(), 0o755); err != nil {
		t.Fatal(err)
	}
	// What a killed attempt and an earlier build left.
	leftover := filepath.Join(m.Folder(), "react", "half")
	other := filepath.Join(parent, "modules-old", "node_modules")
	for _, dir := range []string{leftover, other} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(m.Folder())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := m.Unpack(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	after, err := os.Stat(m.Folder())
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the folder is another one: %v", err)
	}
	for name, want := range map[string]os.FileMode{"react/index.js": 0o644, ".bin/react": 0o755} {
		info, err := os.Stat(filepath.Join(m.Folder(), name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	for _, gone := range []string{leftover, other} {
		if _, err := os.Stat(gone); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", gone, err)
		}
	}
}

func TestAnArchiveCannotLeaveItsFolder(t *testing.T) {
	for name, h := range map[string]tar.Header{
		"a path that goes up":      {Typeflag: tar.TypeReg, Name: "../out", Mode: 0o644},
		"an absolute path":         {Typeflag: tar.TypeReg, Name: "/tmp/out-of-modules", Mode: 0o644},
		"what is neither of three": {Typeflag: tar.TypeFifo, Name: "fifo", Mode: 0o644},
	} {
		m := NewModules(t.TempDir(), "abc", archive(t, h), archive(t))
		if err := m.Unpack(t.Context()); choir.CodeOf(err) != choir.CodeUnavailable && choir.CodeOf(err) != choir.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestABuildWithoutPackagesSaysSo(t *testing.T) {
	var none *Modules
	err := none.Unpack(t.Context())
	if p := choir.ProblemOf(err); p == nil || p.Code != choir.CodeUnavailable || p.Remedy == "" {
		t.Errorf("got %v", err)
	}
}

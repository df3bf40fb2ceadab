package guest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// outsider is a workspace with links that lead out of it.
func outsider(t *testing.T, in *inside) string {
	t.Helper()
	out := t.TempDir()
	put(t, out, "secret", "secret")
	for name, target := range map[string]string{
		"file": filepath.Join(out, "secret"), "dir": out, "up": "../..", "proc": "/proc/self/root",
	} {
		if err := os.Symlink(target, filepath.Join(in.workspace, name)); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestFilesGoInAndOut(t *testing.T) {
	t.Parallel()
	in, ctx := serve(t, nil), within(t)
	if err := in.Mkdir(ctx, "d", 0); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("text ", 100_000)
	state, err := in.WriteFile(ctx, "d/bad%FF\n", 0o640, strings.NewReader(text))
	if err != nil || state.Size != int64(len(text)) || state.Mode != 0o640 || state.Kind != "file" {
		t.Fatalf("got %+v, %v", state, err)
	}
	if _, err := os.Stat(filepath.Join(in.workspace, "d/bad\xff\n")); err != nil {
		t.Fatal(err)
	}
	f, err := in.ReadFile(ctx, "d/bad%FF\n")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f)
	if f.Close(); err != nil || string(got) != text || f.State != state {
		t.Fatalf("got %d bytes, %v", len(got), err)
	}
	if kept, err := in.WriteFile(ctx, "d/bad%FF\n", 0, strings.NewReader("")); err != nil || kept.Mode != 0o640 || kept.Size != 0 {
		t.Errorf("the mode was not kept: %+v, %v", kept, err)
	}
	if err := in.Rename(ctx, "d/bad%FF\n", "e"); err != nil {
		t.Fatal(err)
	}
	if state, err = in.Stat(ctx, "e"); err != nil || state.Path != "e" {
		t.Errorf("got %+v, %v", state, err)
	}
	if root, err := in.Stat(ctx, ""); err != nil || root.Kind != "dir" {
		t.Errorf("got %+v, %v", root, err)
	}
	if err := in.Remove(ctx, "e", false); err != nil {
		t.Error(err)
	}
	put(t, in.workspace, "d/x/y/z", "1")
	wantCode(t, in.Remove(ctx, "d", false), choir.CodeConflict)
	removed := int64(0)
	if err := in.RemoveTree(ctx, "d", func(n int64) { removed = n }); err != nil || removed != 4 {
		t.Errorf("%d paths are gone: %v", removed, err)
	}
	left, _ := os.ReadDir(in.workspace)
	if len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestListPages(t *testing.T) {
	t.Parallel()
	in, ctx := serve(t, nil), within(t)
	for i := range 25 {
		put(t, in.workspace, fmt.Sprintf("d/f%02d", i), "x")
	}
	after, total := "", 0
	for {
		page, err := in.List(ctx, "d", after, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Entries {
			if want := fmt.Sprintf("d/f%02d", total); e.Path != want {
				t.Fatalf("got %s, want %s", e.Path, want)
			}
			after = strings.TrimPrefix(e.Path, "d/")
			total++
		}
		if !page.More {
			break
		}
	}
	if total != 25 {
		t.Errorf("%d entries", total)
	}
}

func TestFilesStayInside(t *testing.T) {
	t.Parallel()
	in, ctx := serve(t, nil), within(t)
	out := outsider(t, in)
	read := func(path string) error {
		f, err := in.ReadFile(ctx, path)
		if err == nil {
			f.Close()
		}
		return err
	}
	write := func(path string) error {
		_, err := in.WriteFile(ctx, path, 0, strings.NewReader("owned"))
		return err
	}
	cases := map[string]struct {
		err  error
		code choir.Code
	}{
		"read a link out":       {read("file"), choir.CodeRefused},
		"read below a link":     {read("dir/secret"), choir.CodeRefused},
		"read up":               {read("up/secret"), choir.CodeRefused},
		"read by proc":          {read("proc/etc/passwd"), choir.CodeRefused},
		"read absolute":         {read("/etc/passwd"), choir.CodeInvalid},
		"read dots":             {read("../x"), choir.CodeInvalid},
		"read dots inside":      {read("a/../../x"), choir.CodeInvalid},
		"read NUL":              {read("a\x00b"), choir.CodeInvalid},
		"read a folder":         {read(""), choir.CodeInvalid},
		"read nothing":          {read("none"), choir.CodeNotFound},
		"bad escape":            {read("%zz"), choir.CodeInvalid},
		"write over a link out": {write("file"), choir.CodeRefused},
		"write below a link":    {write("dir/new"), choir.CodeRefused},
		"write the root":        {write(""), choir.CodeInvalid},
		"write a long name":     {write(strings.Repeat("n", 256)), choir.CodeInvalid},
		"mkdir out":             {in.Mkdir(ctx, "dir/new", 0), choir.CodeRefused},
		"mkdir twice":           {in.Mkdir(ctx, "dir", 0), choir.CodeConflict},
		"rename out":            {in.Rename(ctx, "file", "dir/new"), choir.CodeRefused},
		"rename onto":           {in.Rename(ctx, "file", "dir"), choir.CodeConflict},
		"rename nothing":        {in.Rename(ctx, "none", "new"), choir.CodeNotFound},
		"remove out":            {in.Remove(ctx, "dir/secret", true), choir.CodeRefused},
		"remove the root":       {in.Remove(ctx, "", true), choir.CodeInvalid},
	}
	for name, c := range cases {
		var e *choir.Error
		if !errors.As(c.err, &e) || e.Code != c.code {
			t.Errorf("%s: got %v, want %s", name, c.err, c.code)
		}
	}
	if err := in.Remove(ctx, "dir", true); err != nil { // the link, not what it leads to
		t.Error(err)
	}
	left, _ := os.ReadDir(out)
	if got, _ := os.ReadFile(filepath.Join(out, "secret")); len(left) != 1 || string(got) != "secret" {
		t.Errorf("outside is %v, %q", left, got)
	}
}

func TestAnUploadThatBreaksLeavesNothing(t *testing.T) {
	t.Parallel()
	in, ctx := serve(t, nil), within(t)
	put(t, in.workspace, "f", "old")
	broken := io.MultiReader(strings.NewReader(strings.Repeat("x", 1<<20)), errReader{})
	if _, err := in.WriteFile(ctx, "f", 0, broken); err == nil {
		t.Fatal("no error")
	}
	if _, _, err := in.Unpack(ctx, "new", io.MultiReader(tarOf(t, file("a", "1")), errReader{})); err == nil {
		t.Fatal("no error")
	}
	// The server cleans up once it sees the end; a scan of its waits for that.
	if _, err := in.Scan(ctx, newKeeper(t)); err != nil {
		t.Fatal(err)
	}
	in.stop()
	in.served <- <-in.served
	left, _ := os.ReadDir(in.workspace)
	if got, _ := os.ReadFile(filepath.Join(in.workspace, "f")); string(got) != "old" || len(left) != 1 {
		t.Errorf("got %q, left %v", got, left)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("the source broke") }

func TestAFullDiskIsSaidWithItsCode(t *testing.T) {
	in := serve(t, func(c *Config) { c.Workspace = smallDisk(t) })
	_, err := in.WriteFile(within(t), "big", 0, strings.NewReader(strings.Repeat("x", 4<<20)))
	wantCode(t, err, choir.CodeNoSpace)
	_, _, err = in.Unpack(within(t), "tree", tarOf(t, file("big", strings.Repeat("x", 4<<20))))
	wantCode(t, err, choir.CodeNoSpace)
	left, _ := os.ReadDir(in.workspace)
	if len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

package guest

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// smallDisk is a real file system of 1 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

type member struct {
	tar.Header
	content string
}

var someTime = time.Unix(1600000000, 123456789)

func file(name, content string) member {
	return member{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content)), ModTime: someTime, Format: tar.FormatPAX}, content}
}

func other(kind byte, name, target string) member {
	return member{tar.Header{Name: name, Typeflag: kind, Linkname: target, Mode: 0o755, ModTime: someTime, Format: tar.FormatPAX}, ""}
}

func tarOf(t *testing.T, members ...member) io.Reader {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		if err := w.WriteHeader(&m.Header); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, m.content)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

func TestUnpackKeepsModesLinksAndTimes(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	closed := other(tar.TypeDir, "./closed/", "")
	closed.Mode = 0o555
	script := file("closed/run.sh", "#!/bin/sh\n")
	script.Mode = 0o755
	files, bytes, err := in.Unpack(within(t), "repo", tarOf(t,
		other(tar.TypeDir, "./", ""), closed, script,
		file("no/folder/before", "x"), other(tar.TypeSymlink, "link", "../../etc/passwd"),
		other(tar.TypeLink, "hard", "closed/run.sh"), other(tar.TypeFifo, "fifo", ""),
		file("twice", "first"), file("twice", "second"),
		file(".git/HEAD", "ref: x\n"), file("no/.git", "gitdir: y\n"), file(".gitignore", "z\n"),
	))
	if err != nil || files != 8 || bytes != 10+1+10+5+6+7+10+2 {
		t.Fatalf("%d files, %d bytes, %v", files, bytes, err)
	}
	root := filepath.Join(in.workspace, "repo")
	for path, want := range map[string]os.FileMode{
		".": os.ModeDir | 0o755, "closed": os.ModeDir | 0o555, "closed/run.sh": 0o755, "no/folder/before": 0o644,
		"link": os.ModeSymlink | 0o777, "hard": 0o755, "fifo": os.ModeNamedPipe | 0o755, "twice": 0o644,
	} {
		info, err := os.Lstat(filepath.Join(root, path))
		if err != nil {
			t.Error(err)
			continue
		}
		if info.Mode()&^0o022 != want&^0o022 || !info.ModTime().Equal(someTime) {
			t.Errorf("%s: %v, %v", path, info.Mode(), info.ModTime())
		}
	}
	if got, _ := os.ReadFile(filepath.Join(root, "twice")); string(got) != "second" {
		t.Errorf("got %q", got)
	}
	hard, _ := os.Stat(filepath.Join(root, "hard"))
	original, _ := os.Stat(filepath.Join(root, "closed/run.sh"))
	if os.SameFile(hard, original) {
		t.Error("a hard link is still one")
	}
	_, _, err = in.Unpack(within(t), "repo", tarOf(t))
	wantCode(t, err, choir.CodeConflict)
}

func TestUnpackAfterACrash(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	put(t, in.workspace, unpackTemp+"/half", "x")
	put(t, in.workspace, ".choir-write-1", "x")
	if _, _, err := in.Unpack(within(t), "new", tarOf(t, file("a", "1"))); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(in.workspace, unpackTemp)); err == nil {
		t.Error("what the crash left is still there")
	}
	if _, err := in.WriteFile(within(t), "f", 0, strings.NewReader("1")); err != nil {
		t.Error(err)
	}
}

func TestUnpackRefusals(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	outside := t.TempDir()
	truncated, _ := io.ReadAll(tarOf(t, file("a", strings.Repeat("x", 5000))))
	cases := map[string]struct {
		stream io.Reader
		code   choir.Code
	}{
		"absolute":            {tarOf(t, file("/etc/x", "1")), choir.CodeRefused},
		"dots":                {tarOf(t, file("../x", "1")), choir.CodeRefused},
		"dots inside":         {tarOf(t, file("a/../../x", "1")), choir.CodeRefused},
		"device":              {tarOf(t, other(tar.TypeChar, "dev", "")), choir.CodeRefused},
		"through a link":      {tarOf(t, other(tar.TypeSymlink, "l", outside), file("l/x", "1")), choir.CodeRefused},
		"folder over a link":  {tarOf(t, other(tar.TypeSymlink, "l", outside), other(tar.TypeDir, "l", "")), choir.CodeRefused},
		"hard link out":       {tarOf(t, other(tar.TypeLink, "h", "../../etc/passwd")), choir.CodeRefused},
		"hard link by a link": {tarOf(t, other(tar.TypeSymlink, "l", "/etc"), other(tar.TypeLink, "h", "l/passwd")), choir.CodeRefused},
		"hard link to a link": {tarOf(t, other(tar.TypeSymlink, "l", "/etc/passwd"), other(tar.TypeLink, "h", "l")), choir.CodeRefused},
		"hard link to none":   {tarOf(t, other(tar.TypeLink, "h", "none")), choir.CodeNotFound},
		"file over a folder":  {tarOf(t, file("d/x", "1"), file("d", "1")), choir.CodeInvalid},
		"the folder a file":   {tarOf(t, file(".", "")), choir.CodeRefused},
		"no archive":          {strings.NewReader(strings.Repeat("no tar", 1000)), choir.CodeInvalid},
		"cut off":             {bytes.NewReader(truncated[:2000]), choir.CodeInvalid},
	}
	for name, c := range cases {
		_, _, err := in.Unpack(within(t), "new", c.stream)
		var e *choir.Error
		if !errors.As(err, &e) || e.Code != c.code {
			t.Errorf("%s: got %v, want %s", name, err, c.code)
		}
	}
	for _, dir := range []string{outside, in.workspace} {
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("something is left in %s: %v", dir, left)
		}
	}
}

package machineimage

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"choiros/internal/choir"
)

const remedySquashfs = "install it with: apt-get install -y squashfs-tools"

// writeRoot writes the tree as a squashfs to path, and enters its files in the manifest.
// The program that makes it reads a tar, so that no folder of this machine has to look
// like the image.
func writeRoot(ctx context.Context, environ []string, t tree, path string, m *Manifest) error {
	program, err := exec.LookPath("sqfstar")
	if err != nil {
		return choir.Refuse("image.root", choir.ReasonImageNoSqfstar)
	}
	// One thread writes what several compress, in order: the bytes are the same. The root
	// folder gets its time in no other way.
	cmd := exec.CommandContext(ctx, program, "-reproducible", "-comp", "lz4", "-no-progress", "-quiet", "-no-xattrs",
		"-root-mode", "0755", "-root-uid", "0", "-root-gid", "0", path)
	cmd.Env = slices.DeleteFunc(slices.Clone(environ), func(e string) bool { return strings.HasPrefix(e, "SOURCE_DATE_EPOCH=") })
	cmd.Env = append(cmd.Env, fmt.Sprintf("SOURCE_DATE_EPOCH=%d", t["usr"].time.Unix()))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return choir.Wrap("image.root", choir.CodeInternal, err, "start %s", program)
	}
	if err := cmd.Start(); err != nil {
		return choir.Wrap("image.root", choir.CodeUnavailable, err, "start %s", program)
	}
	err = t.write(in, m)
	in.Close()
	if ended := cmd.Wait(); ended != nil {
		return choir.Refuse("image.root", choir.ReasonImageSqfstar, choir.TextOf("said", lastLine(said.Bytes())))
	}
	return err
}

// write writes the tree as a tar, sorted, everything root's.
func (t tree) write(w io.Writer, m *Manifest) error {
	out := tar.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(t)) {
		n := t[name]
		file := File{Path: name, Mode: fmt.Sprintf("%04o", n.mode.Perm()), Link: n.link}
		h := &tar.Header{Name: name, Mode: int64(n.mode.Perm()), ModTime: n.time, Linkname: n.link, Format: tar.FormatPAX}
		content := n.content
		switch {
		case n.mode.IsDir():
			h.Typeflag, h.Name = tar.TypeDir, name+"/"
		case n.mode&fs.ModeSymlink != 0:
			h.Typeflag = tar.TypeSymlink
		default:
			h.Typeflag = tar.TypeReg
			if n.host != "" {
				var err error
				if content, err = os.ReadFile(n.host); err != nil {
					return choir.Wrap("image.root", choir.CodeUnavailable, err, "read %s", n.host)
				}
			}
			sum := sha256.Sum256(content)
			h.Size, file.Bytes, file.Digest = int64(len(content)), int64(len(content)), choir.DigestFrom(sum)
		}
		if err := out.WriteHeader(h); err != nil {
			return choir.Wrap("image.root", choir.CodeInternal, err, "write %s", name)
		}
		if _, err := out.Write(content); err != nil {
			return choir.Wrap("image.root", choir.CodeInternal, err, "write %s", name)
		}
		if !n.mode.IsDir() {
			m.Files = append(m.Files, file)
		}
	}
	return choir.Wrap("image.root", choir.CodeInternal, out.Close(), "end the root file system")
}

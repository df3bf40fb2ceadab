package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// packTree writes the folder root as a tar with files, folders, links, modes and times. It leaves
// out other kinds of files and calls leave with the path of each.
func packTree(w io.Writer, root string, leave func(string)) error {
	tw := tar.NewWriter(w)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return packOne(tw, path, rel, d, leave)
	})
	return errors.Join(err, tw.Close())
}

// packOne writes one entry to the tar, or calls leave if it is neither file, folder nor link.
func packOne(tw *tar.Writer, path, rel string, d fs.DirEntry, leave func(string)) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	var target string
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		if target, err = os.Readlink(path); err != nil {
			return err
		}
	case !info.Mode().IsRegular() && !info.IsDir():
		leave(rel)
		return nil
	}
	h, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	h.Name = filepath.ToSlash(rel)
	h.Uid, h.Gid, h.Uname, h.Gname = 0, 0, "", ""
	h.Format = tar.FormatPAX
	if err := tw.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if n, err := io.CopyN(tw, f, h.Size); err != nil {
		return fmt.Errorf("%s changed while it was read (%d of %d bytes): %w", rel, n, h.Size, err)
	}
	return nil
}

func isClosedPipe(err error) bool { return errors.Is(err, io.ErrClosedPipe) }

// Command packdesktop packs what choir carries of the desktop beside its bundle:
// the source that new workspaces begin with, and the packages that serve it once
// it was changed.
//
//	go run ./tools/packdesktop [ui/desktop [internal/webui/dist]]
package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// programs is the folder of what runs with the packages: the development server, which also
// bundles the packages beforehand, and the check of a changed source.
const (
	programs = "internal/desktop/dev"
	launcher = programs + "/dev.mjs"
)

// stamp dates every file, so that the same source gives the same bytes.
var stamp = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// notSource lists names in the desktop's folder that are not its source.
var notSource = []string{"node_modules", "dist", ".vite", "coverage"}

// typeRules are the rules by which the check of a changed source looks at its types.
const typeRules = "tsconfig.shared.json"

// notUsed are packages that only this repository uses.
var notUsed = []string{"typescript", "playwright-core", ".vite", ".package-lock.json"}

// checking are packages that lint and test the source, and neither serve it nor check its types.
// They have an archive of their own, because a server does not wait for them.
var checking = []string{
	"@biomejs", "vitest", "@vitest", "axe-core", "fast-check",
	"@testing-library", "happy-dom", "@babel", "ansi-regex", "ansi-styles", "aria-query", "buffer-image-size", "dom-accessibility-api", "entities", "js-tokens", "lz-string",
	"pretty-format", "react-is", "whatwg-mimetype", "ws",
}

// toolsMark is an empty file that is there once all of checking is.
const toolsMark = ".tools"

// notNeeded are parts of packages that the desktop does not import: other builds of
// the same, tools and pages of their own.
var notNeeded = []string{
	"@types/node",
	"pdfjs-dist/legacy", "pdfjs-dist/web", "pdfjs-dist/image_decoders", "pdfjs-dist/iccs", "pdfjs-dist/build/pdf.min.mjs", "pdfjs-dist/build/pdf.worker.mjs",
	"pdfjs-dist/build/pdf.renderer.mjs", "pdfjs-dist/build/pdf.renderer.min.mjs", "pdfjs-dist/build/pdf.sandbox.mjs", "pdfjs-dist/build/pdf.sandbox.min.mjs",
	"pdfjs-dist/wasm/jbig2.wasm", "pdfjs-dist/wasm/openjpeg.wasm", "pdfjs-dist/wasm/qcms_bg.wasm", "pdfjs-dist/wasm/quickjs-eval.wasm", "pdfjs-dist/wasm/quickjs-eval.js",
}

// notRead are the ends of names of files that neither a server nor TypeScript reads. Fewer files are
// unpacked sooner.
var notRead = []string{".map", ".d.cts", ".md", ".markdown", ".flow"}

func unread(name string) bool {
	return slices.ContainsFunc(notRead, func(end string) bool { return strings.HasSuffix(name, end) })
}

func main() {
	from, to := "ui/desktop", "internal/webui/dist"
	if len(os.Args) > 1 {
		from = os.Args[1]
	}
	if len(os.Args) > 2 {
		to = os.Args[2]
	}
	if err := run(from, to); err != nil {
		fmt.Fprintln(os.Stderr, "packdesktop:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	if err := packSource(from, filepath.Join(to, "desktop-source.tar")); err != nil {
		return err
	}
	modules, err := packModules(from)
	if err != nil {
		return err
	}
	tools, err := packTools(from)
	if err != nil {
		return err
	}
	sum := sha256.New()
	for name, content := range map[string][]byte{"desktop-modules": modules, "desktop-tools": tools} {
		if err := replace(filepath.Join(to, name+".tar.zst"), content); err != nil {
			return err
		}
	}
	sum.Write(modules)
	sum.Write(tools)
	return replace(filepath.Join(to, "desktop-modules.tar.zst.sha256"), []byte(hex.EncodeToString(sum.Sum(nil))))
}

func packSource(from, to string) error {
	var out bytes.Buffer
	p := packer{tar.NewWriter(&out)}
	err := p.folder(from, ".", func(path string) bool { return slices.Contains(notSource, filepath.Base(path)) })
	if err = errors.Join(err, p.Close()); err != nil {
		return err
	}
	return replace(to, out.Bytes())
}

// packModules returns the packages that serve the source, and what runs with them.
func packModules(from string) ([]byte, error) {
	seed, err := os.MkdirTemp("", "packdesktop-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(seed)
	modules := filepath.Join(from, "node_modules")
	abs, err := absolute(launcher, from, modules)
	if err != nil {
		return nil, err
	}
	bundle := exec.Command("node", abs[0], "seed", abs[1], abs[2], seed)
	bundle.Stdout, bundle.Stderr = os.Stdout, os.Stderr
	if err := bundle.Run(); err != nil {
		return nil, fmt.Errorf("bundle the packages: %w", err)
	}
	digests, err := digestSource(from)
	if err != nil {
		return nil, err
	}
	return pack(func(p packer) error {
		return errors.Join(
			p.folder(modules, ".", func(path string) bool {
				return slices.Contains(notUsed, filepath.Base(path)) || slices.Contains(checking, path) || slices.Contains(notNeeded, filepath.ToSlash(path)) || unread(path)
			}),
			p.make(".choir"),
			p.folder(filepath.Join(seed, "deps"), ".choir/deps", unread),
			p.file(launcher, ".choir/dev.mjs"),
			p.file(programs+"/moved.mjs", ".choir/moved.mjs"),
			p.file(programs+"/check.mjs", ".choir/check.mjs"),
			p.file(programs+"/checktools.mjs", ".choir/checktools.mjs"),
			p.file(filepath.Join(from, "base", typeRules), ".choir/tsconfig.json"),
			p.content(".choir/source.json", digests),
		)
	})
}

// packTools returns the packages that check a changed source besides.
func packTools(from string) ([]byte, error) {
	modules := filepath.Join(from, "node_modules")
	return pack(func(p packer) error {
		for _, name := range checking {
			if err := p.folder(filepath.Join(modules, name), name, unread); err != nil {
				return err
			}
		}
		return p.content(toolsMark, nil)
	})
}

// pack returns what fill packs, as a compressed tar.
func pack(fill func(packer) error) ([]byte, error) {
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		return nil, err
	}
	p := packer{tar.NewWriter(z)}
	err = errors.Join(fill(p), p.Close(), z.Close())
	return out.Bytes(), err
}

// digestSource returns the digest of each file of the source, by path, as JSON. The check of a
// changed source runs the tests of what differs.
func digestSource(from string) ([]byte, error) {
	digests := map[string]string{}
	for _, below := range []string{"src", "base"} {
		dir, err := filepath.EvalSymlinks(filepath.Join(from, below))
		if err != nil {
			return nil, err
		}
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(dir, path)
			sum := sha256.Sum256(content)
			digests[filepath.ToSlash(filepath.Join(below, rel))] = hex.EncodeToString(sum[:])
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return json.Marshal(digests)
}

func absolute(paths ...string) ([]string, error) {
	var out []string
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, err
		}
		out = append(out, abs)
	}
	return out, nil
}

// replace writes a file at once, so that no build finds half of it.
func replace(path string, content []byte) error {
	if err := os.WriteFile(path+".new", content, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// packer writes folders into a tar in the order of their names.
type packer struct{ *tar.Writer }

// folder packs what is in dir below name, without the paths below dir that are to be skipped.
func (p packer) folder(dir, name string, skip func(path string) bool) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if path != dir && skip(rel) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		to := filepath.Join(name, rel)
		switch {
		case d.IsDir():
			return p.make(to)
		case d.Type()&fs.ModeSymlink != 0:
			return p.link(dir, path, to, skip)
		case d.Type().IsRegular():
			return p.file(path, to)
		}
		return nil
	})
}

// link packs a link of dir. A link to a folder beside dir, such as the desktop's base,
// becomes that folder: a workspace has nothing beside it.
func (p packer) link(dir, path, to string, skip func(path string) bool) error {
	target, err := os.Readlink(path)
	if err != nil {
		return err
	}
	leads := filepath.Join(filepath.Dir(path), target)
	if rel, err := filepath.Rel(dir, leads); err != nil || !filepath.IsLocal(rel) {
		return p.folder(leads, to, skip)
	}
	return p.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: to, Linkname: target, Mode: 0o777, ModTime: stamp})
}

func (p packer) make(name string) error {
	return p.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, ModTime: stamp})
}

func (p packer) file(path, name string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	mode := int64(0o644)
	if info.Mode()&0o100 != 0 {
		mode = 0o755
	}
	return p.write(name, mode, content)
}

// content packs a file that is on no disk.
func (p packer) content(name string, content []byte) error { return p.write(name, 0o644, content) }

func (p packer) write(name string, mode int64, content []byte) error {
	if err := p.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(content)), ModTime: stamp}); err != nil {
		return err
	}
	_, err := io.Copy(p, bytes.NewReader(content))
	return err
}

// Package machineimage makes what a virtual machine boots: a root file system of this
// machine's Debian packages, and beside it Debian's cloud kernel with its modules. It
// installs nothing. The same packages give the same bytes.
package machineimage

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox/host"
)

// The files beside the root file system FILE: FILE.kernel, FILE.manifest.json, and the
// modules beside the kernel.
const (
	KernelSuffix   = ".kernel"
	ModulesSuffix  = ".modules"
	ManifestSuffix = ".manifest.json"
)

// GuestFolder is the folder of the guest binaries in the image, sandbox.GuestInside.
const GuestFolder = "opt/choir"

// Config describes an image to build.
type Config struct {
	Out      string            // the root file system
	Guest    map[string][]byte // the guest binaries, by name
	Packages []string          // besides the packages of every image
	Environ  []string          // of the programs that are run
	// Kernel is a folder with an unpacked kernel package; empty unpacks the newest of apt.
	Kernel string
	// Epoch is the latest time that a file in the image may have (SOURCE_DATE_EPOCH); zero
	// is that of the newest file of a package.
	Epoch time.Time
	// Begins is called with each step as it begins; nil for nobody.
	Begins func(Step)
}

// Step is a step of making an image.
type Step string

// The steps, in their order. StepKernel is left out if the kernel is unpacked already.
const (
	StepKernel   Step = "kernel"   // the kernel's package is unpacked
	StepPackages Step = "packages" // the installed packages are read
	StepRoot     Step = "root"     // the root file system is written
)

// Manifest lists what is in an image.
type Manifest struct {
	Kernel   KernelInfo `json:"kernel"`
	Modules  []File     `json:"modules"`
	Root     File       `json:"root"`
	Packages []Package  `json:"packages"`
	Files    []File     `json:"files"`
}

// HasModule reports whether the image has a kernel module.
func (m Manifest) HasModule(name string) bool {
	return slices.ContainsFunc(m.Modules, func(f File) bool { return f.Path == name })
}

// AsksForNames reports whether programs in the image ask choir-init for names, by the egress
// policy. Those of an image that an earlier choir made find none.
func (m Manifest) AsksForNames() bool {
	want := choir.DigestOf([]byte(host.MadeUp["nsswitch.conf"]))
	return slices.ContainsFunc(m.Files, func(f File) bool { return f.Path == "etc/nsswitch.conf" && f.Digest == want })
}

// KernelInfo is the kernel of an image.
type KernelInfo struct {
	File
	Release string `json:"release"` // such as 6.1.0-1-cloud-amd64
}

// File is one file; Link is where a symbolic link leads.
type File struct {
	Path   string       `json:"path"`
	Bytes  int64        `json:"bytes,omitempty"`
	Mode   string       `json:"mode,omitempty"`
	Digest choir.Digest `json:"digest,omitempty"`
	Link   string       `json:"link,omitempty"`
}

// Package is one Debian package, as it is installed on the machine of the build.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Build makes the image and returns its manifest. What is missing on this machine is code
// unavailable with the command that provides it. If it fails no new file is left, and the
// old image stays.
func Build(ctx context.Context, c Config) (Manifest, error) {
	if c.Begins == nil {
		c.Begins = func(Step) {}
	}
	var m Manifest
	tmp, err := os.MkdirTemp(filepath.Dir(c.Out), ".image-")
	if err != nil {
		return m, choir.Wrap("image.build", choir.CodeUnavailable, err, "make a folder beside %s", c.Out)
	}
	defer os.RemoveAll(tmp) // best effort: what matters was renamed
	if c.Kernel == "" {
		c.Begins(StepKernel)
		if c.Kernel, err = unpackKernel(ctx, c.Environ, tmp); err != nil {
			return m, err
		}
	}
	at := func(suffix string) string { return filepath.Join(tmp, "image"+suffix) }
	if err := copyKernel(c.Kernel, at(KernelSuffix), &m); err != nil {
		return m, err
	}
	c.Begins(StepPackages)
	all, err := installed(ctx, c.Environ)
	if err != nil {
		return m, err
	}
	names, err := all.closure(c.Packages)
	if err != nil {
		return m, err
	}
	for _, name := range names {
		m.Packages = append(m.Packages, Package{Name: name, Version: all[name].version})
	}
	t, err := newTree(ctx, names, c)
	if err != nil {
		return m, err
	}
	c.Begins(StepRoot)
	if err := writeRoot(ctx, c.Environ, t, at(""), &m); err != nil {
		return m, err
	}
	if m.Root, err = describe(at(""), filepath.Base(c.Out)); err != nil {
		return m, err
	}
	text, err := json.MarshalIndent(m, "", "\t")
	if err == nil {
		err = os.WriteFile(at(ManifestSuffix), append(text, '\n'), 0o644)
	}
	if err != nil {
		return m, choir.Wrap("image.build", choir.CodeInternal, err, "write the manifest")
	}
	return m, place(at, c.Out)
}

// place renames the files of an image to their names. The manifest comes last: a driver
// holds the root file system against it.
func place(at func(string) string, out string) error {
	var err error
	for _, suffix := range []string{KernelSuffix + ModulesSuffix, KernelSuffix, "", ManifestSuffix} {
		err = errors.Join(err, os.Chmod(at(suffix), 0o644), os.Rename(at(suffix), out+suffix))
	}
	return choir.Wrap("image.build", choir.CodeInternal, err, "put the image in place")
}

// Load reads the manifest of the image at path.
func Load(path string) (Manifest, error) {
	var m Manifest
	raw, err := os.ReadFile(path + ManifestSuffix)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	return m, choir.Wrap("image.load", choir.CodeUnavailable, err, "read the manifest of %s", path)
}

// describe returns size and digest of a file, under the given name.
func describe(path, name string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, choir.Wrap("image.read", choir.CodeUnavailable, err, "read %s", path)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return File{Path: name, Bytes: n, Digest: choir.DigestFrom([32]byte(h.Sum(nil)))}, choir.Wrap("image.read", choir.CodeUnavailable, err, "read %s", path)
}

// output runs a program and returns its standard output.
func output(ctx context.Context, environ []string, remedy, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(slices.Clone(environ), "LC_ALL=C")
	out, err := cmd.Output()
	if err == nil {
		return out, nil
	}
	e := choir.Refuse("image.build", choir.ReasonImageProgramFailed, choir.TextOf("name", name))
	e.Err, e.Remedy = err, remedy
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		e.Msg += ", saying " + lastLine(exit.Stderr)
	}
	return nil, e
}

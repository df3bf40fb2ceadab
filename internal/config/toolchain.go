package config

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// Host lists this machine's folders that toolchains must not expose to sandboxes.
type Host struct {
	Data  string   // the data folder
	Homes []string // home folders of this machine's people and services
}

// HomesOf returns the home folders listed in a file of /etc/passwd's form; nil if the file
// does not exist.
func HomesOf(passwd string) ([]string, error) {
	const homeField = 5
	f, err := os.Open(passwd)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, choir.Wrap("config.homes", choir.CodeUnavailable, err, "find the home folders of this machine")
	}
	defer f.Close()
	var homes []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) > homeField && filepath.IsAbs(fields[homeField]) {
			homes = append(homes, filepath.Clean(fields[homeField]))
		}
	}
	return homes, choir.Wrap("config.homes", choir.CodeUnavailable, lines.Err(), "read %s", passwd)
}

// ownFolders are the sandbox's own folders, which no toolchain may be mounted over.
var ownFolders = []string{
	"/bin", "/dev", "/etc", "/home/choir", "/lib", "/lib32", "/lib64", "/libx32", "/opt/choir", "/proc",
	"/run", "/sbin", "/sys", "/var/run", "/var/tmp", "/workspace",
}

// wholeFolders are folders that may contain toolchains but are none themselves.
var wholeFolders = []string{"/", "/home", "/opt", "/srv", "/tmp", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/var", "/var/lib"}

// checkToolchains checks the toolchains' paths without reading the disk. Code invalid.
func (c Config) checkToolchains() error {
	for i, dir := range c.Runtime.Toolchains {
		at := toolchainKey(i)
		switch {
		case !filepath.IsAbs(dir) || filepath.Clean(dir) != dir:
			return choir.RefuseField(at, choir.ReasonConfigShortPath, choir.TextOf("given", dir))
		case strings.ContainsAny(dir, ":\x00\n"):
			return choir.RefuseField(at, choir.ReasonConfigPathPart, choir.TextOf("given", dir))
		case slices.Contains(wholeFolders, dir):
			return choir.RefuseField(at, choir.ReasonToolchainMuch, choir.TextOf("path", dir))
		case slices.ContainsFunc(ownFolders, func(own string) bool { return within(dir, own) || within(own, dir) }):
			return choir.RefuseField(at, choir.ReasonToolchainOwn, choir.TextOf("path", dir))
		case slices.ContainsFunc(c.Runtime.Toolchains[:i], func(other string) bool { return within(dir, other) || within(other, dir) }):
			return choir.RefuseField(at, choir.ReasonToolchainOther, choir.TextOf("path", dir))
		}
	}
	return nil
}

// toolchainKey returns the key of the toolchain with index i, for errors.
func toolchainKey(i int) string { return fmt.Sprintf("runtime.toolchains[%d]", i) }

// CheckToolchains checks the toolchains on this machine. Code invalid: a folder does not
// exist, or mounting it would expose host data to sandboxes.
func (c Config) CheckToolchains(h Host) error {
	if err := c.checkToolchains(); err != nil {
		return err
	}
	for i, dir := range c.Runtime.Toolchains {
		if err := c.checkToolchain(toolchainKey(i), dir, h); err != nil {
			return err
		}
	}
	return nil
}

// checkToolchain checks on the disk that dir is a folder that exposes nothing, links resolved.
func (c Config) checkToolchain(at, dir string, h Host) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return choir.RefuseField(at, choir.ReasonConfigNoFolder, choir.TextOf("path", dir))
	}
	if err != nil {
		return choir.RefuseField(at, choir.ReasonConfigUnseen, choir.TextOf("why", err))
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return choir.RefuseField(at, choir.ReasonConfigUnfollowed, choir.TextOf("why", err))
	}
	for _, path := range []string{dir, real} {
		if reason, other := c.exposes(path, h); reason != "" {
			return choir.RefuseField(at, reason, choir.TextOf("path", dir), choir.TextOf("other", other))
		}
	}
	return nil
}

// secretNames are names of files with secrets; a folder that has one is no toolchain.
var secretNames = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".git-credentials", ".npmrc", ".pypirc",
	"credentials", "credentials.toml",
}

// exposes returns the reason why mounting dir would leak host data into the sandbox, and
// what it would leak; "" if nothing.
func (c Config) exposes(dir string, h Host) (reason choir.Reason, what string) {
	if slices.Contains(wholeFolders, dir) {
		return choir.ReasonToolchainLeads, dir
	}
	for _, home := range h.Homes {
		if within(resolved(home), dir) || within(home, dir) {
			return choir.ReasonToolchainHome, home
		}
	}
	data := resolved(h.Data)
	if within(data, dir) || within(dir, data) {
		return choir.ReasonToolchainData, h.Data
	}
	for _, p := range c.Models.Providers {
		if p.KeyFile != "" && within(resolved(p.KeyFile), dir) {
			return choir.ReasonToolchainKey, p.Name
		}
	}
	for _, name := range secretNames {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return choir.ReasonToolchainSecret, name
		}
	}
	return "", ""
}

// resolved returns the path with symbolic links resolved; the clean path if it does not
// exist.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// within reports whether path is dir or lies below it; both are clean.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

package packages

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
)

// Cargo is the sparse index of a registry of crates and the host of its files. The index has the
// SHA-256 of each crate.
type Cargo struct{ Index, Files string }

// Hosts implements Registry.
func (c Cargo) Hosts() []string { return distinct(c.Index, c.Files) }

// crateName is a name of a crate.
var crateName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// cratePath returns the name and version in the path of a crate: /crates/NAME/VERSION/download or
// /crates/NAME/NAME-VERSION.crate.
func cratePath(path string) (name, version string, ok bool) {
	part := strings.Split(path, "/")
	if len(part) < 4 || part[0] != "" || part[1] != "crates" || !crateName.MatchString(part[2]) {
		return "", "", false
	}
	if len(part) == 5 && part[4] == "download" {
		return part[2], part[3], part[3] != ""
	}
	file, crate := strings.CutSuffix(part[3], ".crate")
	version, named := strings.CutPrefix(file, part[2]+"-")
	return part[2], version, len(part) == 4 && crate && named && version != ""
}

// crateIndex returns the path of the page of a crate.
func crateIndex(name string) string {
	name = strings.ToLower(name)
	switch n := len(name); n {
	case 1, 2:
		return "/" + string('0'+rune(n)) + "/" + name
	case 3:
		return "/3/" + name[:1] + "/" + name
	}
	return "/" + name[:2] + "/" + name[2:4] + "/" + name
}

// Item implements Registry.
func (c Cargo) Item(host, path string) (Item, bool) {
	name, version, ok := cratePath(path)
	if !ok || host != c.Files {
		return Item{}, false
	}
	item := Item{Host: host, Path: path, Type: "application/gzip", findCheck: func(ctx context.Context, read pageReader) (check, error) {
		return c.digest(ctx, read, name, version)
	}}
	if c.Index != c.Files {
		item.Asks = []string{c.Index}
	}
	return item, true
}

// Page implements Registry. It knows /config.json and the pages of crates.
func (c Cargo) Page(host, path, _ string) (kind string, ok bool) {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return "*/*", host == c.Index && (path == "/config.json" || crateName.MatchString(name) && path == crateIndex(name))
}

// digest returns the check of a crate by its line in the index.
func (c Cargo) digest(ctx context.Context, read pageReader, name, version string) (check, error) {
	page, err := read(ctx, Request{Host: c.Index, Path: crateIndex(name), Accept: "*/*"})
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(page) {
		var one struct {
			Name    string `json:"name"`
			Version string `json:"vers"`
			Sum     string `json:"cksum"`
		}
		if json.Unmarshal(line, &one) == nil && one.Name == name && one.Version == version {
			return required(hasHex("sha256", one.Sum))
		}
	}
	return nil, ErrPass
}

// distinct returns one or two hosts.
func distinct(a, b string) []string {
	if a == b {
		return []string{a}
	}
	return []string{a, b}
}

package packages

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// NPM is a registry of npm, by one or more names. A tarball's digest is in the page of its version.
type NPM struct{ Names []string }

// Hosts implements Registry.
func (n NPM) Hosts() []string { return n.Names }

// Item implements Registry. It knows /NAME/-/NAME-VERSION.tgz, also below a scope.
func (n NPM) Item(host, path string) (Item, bool) {
	name, file, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/-/")
	base := name[strings.LastIndexByte(name, '/')+1:]
	scope := strings.TrimSuffix(name, base)
	version, inside := strings.CutPrefix(file, base+"-")
	version, tarball := strings.CutSuffix(version, ".tgz")
	if !ok || !inside || !tarball || base == "" || version == "" || strings.Contains(version, "/") || !slices.Contains(n.Names, host) ||
		scope != "" && (scope[0] != '@' || strings.Count(scope, "/") != 1) {
		return Item{}, false
	}
	return Item{
		Host: host, Path: path, Type: "application/octet-stream",
		findCheck: func(ctx context.Context, read pageReader) (check, error) {
			return npmDigest(ctx, read, host, path, name, version)
		},
	}, true
}

// Page implements Registry. It knows /NAME, also below a scope.
func (n NPM) Page(host, path, accept string) (kind string, ok bool) {
	if !slices.Contains(n.Names, host) || !npmName.MatchString(path) {
		return "", false
	}
	switch {
	case strings.Contains(accept, npmPage):
		return npmPage, true
	case accept == "" || strings.Contains(accept, "*/*") || strings.Contains(accept, "application/json"):
		return "application/json", true
	}
	return "", false
}

// npmName is the path of a page of all versions.
var npmName = regexp.MustCompile(`^/(@[a-z0-9._~-]+/)?[a-z0-9~][a-z0-9._~-]*$`)

// npmVersion holds the digests of a version, and where its tarball is.
type npmVersion struct {
	Dist struct {
		Tarball   string `json:"tarball"`
		Integrity string `json:"integrity"`
		Shasum    string `json:"shasum"`
	} `json:"dist"`
}

// npmPage is the media type of the pages of packages for installing them.
const npmPage = "application/vnd.npm.install-v1+json"

// npmDigest returns the check of a tarball by the page of its version, or else by the page of all
// versions.
func npmDigest(ctx context.Context, read pageReader, host, path, name, version string) (check, error) {
	var one npmVersion
	page, err := read(ctx, Request{Host: host, Path: "/" + name + "/" + version, Accept: "application/json"})
	if err == nil {
		err = json.Unmarshal(page, &one)
	}
	if err != nil || one.Dist.Tarball == "" {
		if page, err = read(ctx, Request{Host: host, Path: "/" + name, Accept: npmPage}); err != nil {
			return nil, err
		}
		var all struct {
			Versions map[string]npmVersion `json:"versions"`
		}
		if err := json.Unmarshal(page, &all); err != nil {
			return nil, err
		}
		one = all.Versions[version]
	}
	tarball, err := url.Parse(one.Dist.Tarball)
	if err != nil || tarball.EscapedPath() != path {
		return nil, ErrPass
	}
	if c := hasIntegrity(one.Dist.Integrity); c != nil {
		return c, nil
	}
	return required(hasHex("sha1", one.Dist.Shasum))
}

package packages

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
)

// PyPI is the index of Python packages and the host of its files. The path of a file is the
// BLAKE2b-256 of its content; the metadata of a wheel has a digest in the page of its project.
type PyPI struct{ Index, Files string }

// Hosts implements Registry.
func (p PyPI) Hosts() []string { return distinct(p.Index, p.Files) }

// pypiFile is the path of a file.
var pypiFile = regexp.MustCompile(`^/packages/([0-9a-f]{2})/([0-9a-f]{2})/([0-9a-f]{60})/([A-Za-z0-9][A-Za-z0-9._+!-]*)$`)

// pypiMarks are read as one dash in names of projects.
var pypiMarks = regexp.MustCompile(`[-_.]+`)

// pypiProject returns the name of the page of the project of a wheel.
func pypiProject(wheel string) string {
	name, _, _ := strings.Cut(wheel, "-")
	return pypiMarks.ReplaceAllString(strings.ToLower(name), "-")
}

// Item implements Registry.
func (p PyPI) Item(host, path string) (Item, bool) {
	part := pypiFile.FindStringSubmatch(path)
	if part == nil || host != p.Files {
		return Item{}, false
	}
	item := Item{Host: host, Path: path, Type: "application/octet-stream"}
	wheel, metadata := strings.CutSuffix(part[4], ".metadata")
	if !metadata {
		item.findCheck = func(context.Context, pageReader) (check, error) {
			return required(hasHex("blake2b", part[1]+part[2]+part[3]))
		}
		return item, true
	}
	if p.Index != p.Files {
		item.Asks = []string{p.Index}
	}
	item.findCheck = func(ctx context.Context, read pageReader) (check, error) {
		return p.metadataDigest(ctx, read, pypiProject(wheel), strings.TrimSuffix(path, ".metadata"))
	}
	return item, true
}

// Page implements Registry. It knows /simple/PROJECT/.
func (p PyPI) Page(host, path, accept string) (kind string, ok bool) {
	if host != p.Index || !pypiIndex.MatchString(path) {
		return "", false
	}
	switch {
	case strings.Contains(accept, pypiPage):
		return pypiPage, true
	case accept == "" || strings.Contains(accept, "text/html") || strings.Contains(accept, "*/*"):
		return "text/html", true
	}
	return "", false
}

// pypiIndex is the path of the page of a project.
var pypiIndex = regexp.MustCompile(`^/simple/[a-z0-9][a-z0-9-]*/$`)

// pypiPage is the media type of the pages with digests, PEP 691.
const pypiPage = "application/vnd.pypi.simple.v1+json"

// metadataDigest returns the check of the metadata of a wheel by the page of its project, PEP 714.
func (p PyPI) metadataDigest(ctx context.Context, read pageReader, project, wheel string) (check, error) {
	where := "/simple/" + project + "/"
	raw, err := read(ctx, Request{Host: p.Index, Path: where, Accept: pypiPage})
	if err != nil {
		return nil, err
	}
	var page struct {
		Files []struct {
			URL      string          `json:"url"`
			Metadata json.RawMessage `json:"core-metadata"`
		} `json:"files"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return nil, err
	}
	base := &url.URL{Scheme: "https", Host: p.Index, Path: where}
	for _, f := range page.Files {
		at, err := base.Parse(f.URL)
		if err != nil || at.Host != p.Files || at.EscapedPath() != wheel {
			continue
		}
		var digests map[string]string
		if json.Unmarshal(f.Metadata, &digests) == nil {
			return required(hasHex("sha256", digests["sha256"]))
		}
	}
	return nil, ErrPass
}

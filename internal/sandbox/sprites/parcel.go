package sprites

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox/host"
)

//go:embed scripts
var scripts embed.FS

// inside is the folder of a sprite into which a parcel is unpacked.
const inside = "/var/lib/choir"

// parcel is everything that a sprite needs to become a sandbox: a tar archive, compressed.
type parcel struct {
	content []byte
	digest  string // SHA-256 of content, in hex
}

// path is where the parcel is uploaded to.
func (p parcel) path() string { return "/tmp/choir-" + p.digest }

// parcels keeps the parcels of folders of guest binaries.
type parcels struct {
	mu   sync.Mutex // guards made
	made map[string]parcel
}

// of returns the parcel with the guest binaries in a folder, which do not change.
func (p *parcels) of(folder string) (parcel, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if got, ok := p.made[folder]; ok {
		return got, nil
	}
	content, err := pack(folder)
	if err != nil {
		return parcel{}, choir.Wrap("sprites.create", choir.CodeUnavailable, err, "pack what a sprite needs")
	}
	sum := sha256.Sum256(content)
	made := parcel{content: content, digest: hex.EncodeToString(sum[:])}
	if p.made == nil {
		p.made = map[string]parcel{}
	}
	p.made[folder] = made
	return made, nil
}

// packed is one file of a parcel.
type packed struct {
	mode    int64
	content []byte
}

// pack returns the parcel with the guest binaries in a folder.
func pack(folder string) ([]byte, error) {
	files, err := filesOf(folder)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	squeezed, err := gzip.NewWriterLevel(&out, gzip.BestSpeed) // it is packed for each driver anew
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(squeezed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		header := &tar.Header{Name: name, Mode: f.mode, Size: int64(len(f.content)), Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := squeezed.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// filesOf returns the files of a parcel, by their path in it.
func filesOf(folder string) (map[string]packed, error) {
	files := map[string]packed{"system": {0o644, []byte(strings.Join(host.FromSystem, "\n") + "\n")}}
	for name, text := range host.MadeUp {
		files["etc/"+name] = packed{0o644, []byte(text)}
	}
	filter, err := host.SeccompProgram()
	if err != nil {
		return nil, err
	}
	files["filter"] = packed{0o644, []byte(base64.StdEncoding.EncodeToString(filter))}
	own, err := fs.ReadDir(scripts, "scripts")
	if err != nil {
		return nil, err
	}
	for _, e := range own {
		text, err := scripts.ReadFile("scripts/" + e.Name())
		if err != nil {
			return nil, err
		}
		files[e.Name()] = packed{0o755, text}
	}
	guests, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range guests {
		if !e.Type().IsRegular() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		files["guest/"+e.Name()] = packed{0o111, content} // nobody inside reads them
	}
	if _, has := files["guest/"+guestbin.Init]; !has {
		return nil, os.ErrNotExist
	}
	return files, nil
}

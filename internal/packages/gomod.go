package packages

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/dirhash"
)

// GoModules is a proxy of Go modules and the checksum database that has the digests of its
// content. It remembers the database's newest signed tree, against which later ones are held.
type GoModules struct {
	proxy, sums string
	key         string // of the signatures of sums

	mu     sync.Mutex // guards the rest
	latest []byte     // the newest signed tree
	tiles  map[string][]byte
}

// NewGoModules returns a registry. The key is that of the database, NAME+HASH+BASE64.
func NewGoModules(proxy, sums, key string) *GoModules {
	return &GoModules{proxy: proxy, sums: sums, key: key, tiles: map[string][]byte{}}
}

// Hosts implements Registry. The database is not among them: its clients check what it says.
func (g *GoModules) Hosts() []string { return []string{g.proxy} }

// Item implements Registry. It knows /MODULE/@v/VERSION.zip, .mod and .info.
func (g *GoModules) Item(host, path string) (Item, bool) {
	escaped, file, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/@v/")
	dot := strings.LastIndexByte(file, '.')
	if !ok || dot < 0 || host != g.proxy {
		return Item{}, false
	}
	name, err := module.UnescapePath(escaped)
	if err != nil {
		return Item{}, false
	}
	version, err := module.UnescapeVersion(file[:dot])
	if err != nil || module.Check(name, version) != nil {
		return Item{}, false
	}
	item := Item{Host: host, Path: path}
	if g.sums != g.proxy {
		item.Asks = []string{g.sums}
	}
	find := func(suffix string, of func(sum string) check) func(context.Context, pageReader) (check, error) {
		return func(ctx context.Context, read pageReader) (check, error) {
			return g.digest(ctx, read, name, version+suffix, of)
		}
	}
	switch file[dot:] {
	case ".zip":
		item.Type, item.findCheck = "application/zip", find("", hasZipSum)
	case ".mod":
		item.Type, item.findCheck = "text/plain; charset=UTF-8", find("/go.mod", hasModSum)
	case ".info":
		// The database has no digest of it. It is kept for versions that the database has.
		item.Type, item.findCheck = "application/json", find("", func(string) check { return isInfoOf(version) })
	default:
		return Item{}, false
	}
	return item, true
}

// Page implements Registry. Lists of versions are asked for anew each time.
func (g *GoModules) Page(string, string, string) (kind string, ok bool) { return "", false }

// digest returns the check of a file of a module by its line in the database, whose signature and
// place in the tree are checked.
func (g *GoModules) digest(ctx context.Context, read pageReader, name, version string, of func(sum string) check) (check, error) {
	lines, err := sumdb.NewClient(&sumOps{GoModules: g, ctx: ctx, read: read}).Lookup(name, version)
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		if sum, ok := strings.CutPrefix(line, name+" "+version+" "); ok && strings.HasPrefix(sum, "h1:") {
			return of(sum), nil
		}
	}
	return nil, ErrPass
}

// maxUnpacked is the most bytes that a module may have unpacked.
const maxUnpacked = 2 << 30

// hasZipSum returns the check of the packed module with a sum.
func hasZipSum(sum string) check {
	return func(f *os.File) (bool, error) {
		info, err := f.Stat()
		if err != nil {
			return false, err
		}
		z, err := zip.NewReader(f, info.Size())
		if err != nil {
			return false, nil
		}
		left := &io.LimitedReader{N: maxUnpacked}
		files := map[string]*zip.File{}
		for _, one := range z.File {
			files[one.Name] = one
		}
		names := make([]string, 0, len(z.File))
		for _, one := range z.File {
			names = append(names, one.Name)
		}
		got, err := dirhash.Hash1(names, func(name string) (io.ReadCloser, error) {
			r, err := files[name].Open()
			if err != nil {
				return nil, err
			}
			return &bounded{ReadCloser: r, left: left}, nil
		})
		// What cannot be unpacked is another content than the sum's.
		return err == nil && got == sum, nil
	}
}

// bounded reads no more than what several readers have left together.
type bounded struct {
	io.ReadCloser
	left *io.LimitedReader
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left.N -= int64(n); b.left.N < 0 {
		return n, errors.New("packages: the module is too large unpacked")
	}
	return n, err
}

// hasModSum returns the check of a go.mod with a sum.
func hasModSum(sum string) check {
	return func(f *os.File) (bool, error) {
		got, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
			return io.NopCloser(io.NewSectionReader(f, 0, maxPage)), nil
		})
		return got == sum, err
	}
}

// isInfoOf returns the check of what a proxy says of a version.
func isInfoOf(version string) check {
	return func(f *os.File) (bool, error) {
		var info struct{ Version string }
		err := json.NewDecoder(io.NewSectionReader(f, 0, 1<<20)).Decode(&info)
		return err == nil && info.Version == version, nil
	}
}

// sumOps are what the client of the database needs, for one question.
type sumOps struct {
	*GoModules
	ctx  context.Context
	read pageReader
}

// ReadRemote implements sumdb.ClientOps.
func (o *sumOps) ReadRemote(path string) ([]byte, error) {
	return o.read(o.ctx, Request{Host: o.sums, Path: path, Accept: "*/*"})
}

// ReadConfig implements sumdb.ClientOps.
func (o *sumOps) ReadConfig(file string) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if file == "key" {
		return []byte(o.key), nil
	}
	return slices.Clone(o.latest), nil
}

// WriteConfig implements sumdb.ClientOps.
func (o *sumOps) WriteConfig(_ string, old, now []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !bytes.Equal(o.latest, old) {
		return sumdb.ErrWriteConflict
	}
	o.latest = slices.Clone(now)
	return nil
}

// maxTiles is the number of tiles, of 8 KB each, that are remembered.
const maxTiles = 2000

// ReadCache implements sumdb.ClientOps.
func (o *sumOps) ReadCache(file string) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if tile, ok := o.tiles[file]; ok {
		return tile, nil
	}
	return nil, os.ErrNotExist
}

// WriteCache implements sumdb.ClientOps.
func (o *sumOps) WriteCache(file string, data []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.tiles) >= maxTiles {
		clear(o.tiles)
	}
	o.tiles[file] = data
}

// Log implements sumdb.ClientOps.
func (o *sumOps) Log(string) {}

// SecurityError implements sumdb.ClientOps. The lookup fails, so that nothing is kept.
func (o *sumOps) SecurityError(string) {}

package snapshot

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"strconv"
	"strings"

	"choiros/internal/choir"
)

// Manifest describes one folder: its own mode and time, and its entries.
type Manifest struct {
	Mode    uint32
	MTime   Stamp
	Entries []Entry // strictly ascending by the bytes of Name
}

// manifestMagic is the prefix of every manifest. Its last byte is the version of the
// format.
const manifestMagic = "choirmf\x01"

// emptySum is the digest of empty content.
var emptySum = sha256.Sum256(nil)

// Encode returns the binary form of the manifest, see docs/FORMAT.md. Equal manifests
// have equal bytes. The entries must be sorted by name.
func (m *Manifest) Encode() []byte {
	b := beginManifest(m.Mode, m.MTime, len(m.Entries), len(m.Entries)*(mostEntry+16))
	for i := range m.Entries {
		b = m.Entries[i].append(b)
	}
	return b
}

// mostEntry is the maximal encoded length of an entry without its name and target.
const mostEntry = 2 + 14 + 8 + 32

// beginManifest returns the encoded head of a manifest with a number of entries, in a
// slice with room more bytes for them.
func beginManifest(mode uint32, mtime Stamp, entries, room int) []byte {
	b := make([]byte, 0, 32+room)
	b = append(b, manifestMagic...)
	b = appendMeta(b, mode, mtime)
	return binary.BigEndian.AppendUint32(b, uint32(entries))
}

func appendMeta(b []byte, mode uint32, t Stamp) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(mode))
	b = binary.BigEndian.AppendUint64(b, uint64(t.Sec))
	return binary.BigEndian.AppendUint32(b, t.Nsec)
}

func (e *Entry) append(b []byte) []byte {
	b = append(b, byte(e.Kind), byte(len(e.Name)))
	b = append(b, e.Name...)
	if e.Kind == Dir {
		return append(b, e.Sum[:]...)
	}
	b = appendMeta(b, e.Mode, e.MTime)
	switch e.Kind {
	case File:
		b = binary.BigEndian.AppendUint64(b, uint64(e.Size))
		b = append(b, e.Sum[:]...)
	case Symlink:
		b = binary.BigEndian.AppendUint16(b, uint16(len(e.Target)))
		b = append(b, e.Target...)
	}
	return b
}

// DecodeManifest decodes a manifest. Bytes that Encode would not have written are code
// invalid with the path of the error, such as entries[3].name, or too_large.
func DecodeManifest(raw []byte) (Manifest, error) {
	if len(raw) > MaxManifestBytes {
		return Manifest{}, &choir.Error{Op: "snapshot.decode", Code: choir.CodeTooLarge, Path: "manifest",
			Msg: "is longer than 64 MiB"}
	}
	d := decoder{rest: raw}
	m := d.manifest()
	if d.err == nil && len(d.rest) > 0 {
		d.fail("manifest", "has %d bytes behind its last entry", len(d.rest))
	}
	if d.err != nil {
		return Manifest{}, d.err
	}
	return m, nil
}

// ReadMeta reads the mode and time of a folder from the first bytes of its manifest,
// because the folder's entry in its parent has neither. Bytes that do not begin like a
// manifest are code invalid.
func ReadMeta(manifest io.Reader) (mode uint32, mtime Stamp, err error) {
	head := make([]byte, len(manifestMagic)+metaBytes)
	if _, err := io.ReadFull(manifest, head); err == io.EOF || err == io.ErrUnexpectedEOF {
		return 0, Stamp{}, choir.Invalid("manifest", "is cut off")
	} else if err != nil {
		return 0, Stamp{}, err
	}
	d := decoder{rest: head}
	d.magic()
	mode, mtime = d.meta("manifest")
	if d.err != nil {
		return 0, Stamp{}, d.err
	}
	return mode, mtime, nil
}

// decoder consumes fields from the front of rest. After the first error it returns zero
// values.
type decoder struct {
	rest []byte
	err  *choir.Error
}

func (d *decoder) fail(path, format string, args ...any) {
	if d.err == nil {
		d.err = choir.Invalid(path, format, args...)
	}
}

// readBytes consumes n bytes and returns them. If fewer are left it returns n zeros and
// sets the decoder's error about path.
func (d *decoder) readBytes(n int, path string) []byte {
	if d.err != nil || len(d.rest) < n {
		d.fail(path, "is cut off")
		return make([]byte, n)
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) manifest() (m Manifest) {
	d.magic()
	m.Mode, m.MTime = d.meta("manifest")
	n := int(binary.BigEndian.Uint32(d.readBytes(4, "manifest.entries")))
	const leastEntry = 2 + 1 + 14 // a fifo with a name of one byte
	if n > len(d.rest)/leastEntry {
		d.fail("manifest.entries", "says %d, more than %d bytes can hold", n, len(d.rest))
	}
	if d.err != nil || n == 0 {
		return m
	}
	m.Entries = make([]Entry, 0, n)
	before := ""
	for i := 0; i < n && d.err == nil; i++ {
		e := d.entry()
		if i > 0 && e.Name <= before {
			d.fail("name", "comes after a name that is not before it")
		}
		if d.err != nil {
			d.err.Path = "entries[" + strconv.Itoa(i) + "]." + d.err.Path
		}
		before = e.Name
		m.Entries = append(m.Entries, e)
	}
	return m
}

func (d *decoder) magic() {
	if string(d.readBytes(len(manifestMagic), "manifest")) != manifestMagic {
		d.fail("manifest", "does not begin like a manifest of version 1")
	}
}

// metaBytes is the encoded length of a mode and a time.
const metaBytes = 14

func (d *decoder) meta(path string) (uint32, Stamp) {
	b := d.readBytes(metaBytes, path)
	mode := uint32(binary.BigEndian.Uint16(b))
	t := Stamp{Sec: int64(binary.BigEndian.Uint64(b[2:])), Nsec: binary.BigEndian.Uint32(b[10:])}
	if mode > maxMode {
		d.fail(path+".mode", "has bits beyond the 12 of permissions")
	}
	if t.Nsec >= 1e9 {
		d.fail(path+".mtime", "has more nanoseconds than a second")
	}
	return mode, t
}

func (d *decoder) entry() (e Entry) {
	head := d.readBytes(2, "kind")
	e.Kind = Kind(head[0])
	e.Name = string(d.readBytes(int(head[1]), "name"))
	if why := badName(e.Name); why != "" {
		d.fail("name", "%s", why)
	}
	if e.Kind == Dir {
		e.Sum = Sum(d.readBytes(32, "digest"))
		return e
	}
	e.Mode, e.MTime = d.meta("meta")
	switch e.Kind {
	case File:
		size := binary.BigEndian.Uint64(d.readBytes(8, "size"))
		e.Size, e.Sum = int64(size), Sum(d.readBytes(32, "digest"))
		if size > MaxFileBytes {
			d.fail("size", "%d is more than a file may have", size)
		}
		if (e.Size == 0) != (e.Sum == emptySum) {
			d.fail("digest", "does not fit a size of %d", e.Size)
		}
	case Symlink:
		e.Target = string(d.readBytes(int(binary.BigEndian.Uint16(d.readBytes(2, "target"))), "target"))
		if e.Target == "" || len(e.Target) > MaxTarget || strings.IndexByte(e.Target, 0) >= 0 {
			d.fail("target", "must have 1 to %d bytes and no NUL", MaxTarget)
		}
	case Fifo:
	default:
		d.fail("kind", "%q is not a kind", byte(e.Kind))
	}
	return e
}

// badName returns the reason why a name is invalid; empty for a valid name.
func badName(name string) string {
	switch {
	case name == "" || len(name) > MaxName:
		return "must have 1 to 255 bytes"
	case name == "." || name == "..":
		return "may not be . or .."
	case strings.IndexByte(name, '/') >= 0 || strings.IndexByte(name, 0) >= 0:
		return "may not hold a slash or NUL"
	}
	return ""
}

package git

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"slices"
	"sort"

	"golang.org/x/sys/unix"
)

// index is a repository's index, format version 2 (gitformat-index(5)).
type index struct {
	entries []indexEntry // sorted by name, in byte order
	tree    *cachedTree  // the tree cached for the entries as read; nil if the file has none
}

// indexEntry is one path of the index in its encoded form.
type indexEntry struct {
	raw  []byte
	name []byte // part of raw
}

// Byte offsets of the fields of an entry.
const (
	entryMTime = 8
	entryMode  = 24
	entryID    = 40
	entryFlags = 60
	entryName  = 62
)

func (e indexEntry) mode() uint32 { return binary.BigEndian.Uint32(e.raw[entryMode:]) }
func (e indexEntry) id() objectID { return objectID(e.raw[entryID:]) }

// before reports whether the entry's modification time is before t. If it is, and t is
// the index's time, equal stat data means an unchanged file.
func (e indexEntry) before(t unix.Timespec) bool {
	sec, nsec := binary.BigEndian.Uint32(e.raw[entryMTime:]), binary.BigEndian.Uint32(e.raw[entryMTime+4:])
	return int64(sec) < t.Sec || int64(sec) == t.Sec && int64(nsec) < t.Nsec
}

// newEntry returns an entry for a file with the stat data st.
func newEntry(name string, mode uint32, id objectID, st *unix.Stat_t) indexEntry {
	raw := make([]byte, entrySize(len(name)))
	for i, v := range []uint32{
		uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec), uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec),
		uint32(st.Dev), uint32(st.Ino), mode, st.Uid, st.Gid, uint32(st.Size),
	} {
		binary.BigEndian.PutUint32(raw[4*i:], v)
	}
	copy(raw[entryID:], id[:])
	binary.BigEndian.PutUint16(raw[entryFlags:], uint16(min(len(name), longName)))
	copy(raw[entryName:], name)
	return indexEntry{raw: raw, name: raw[entryName : entryName+len(name)]}
}

// longName in an entry's flags means that the name is too long for its length to be
// stored there.
const longName = 0xfff

// entrySize returns the encoded size of an entry with a name of n bytes, including the one
// to eight zero bytes at its end.
func entrySize(n int) int { return (entryName + n + 8) &^ 7 }

// parseIndex decodes an index. ok is false if it is damaged or uses features that this
// package does not support: another version, unmerged or flagged paths, or mandatory
// extensions.
func parseIndex(raw []byte) (*index, bool) {
	if len(raw) < 12+sha1.Size || string(raw[:8]) != "DIRC\x00\x00\x00\x02" {
		return nil, false
	}
	count := int(binary.BigEndian.Uint32(raw[8:]))
	rest := raw[12 : len(raw)-sha1.Size]
	if count > len(rest)/entrySize(1) {
		return nil, false
	}
	ix := &index{entries: make([]indexEntry, 0, count)}
	var last []byte
	for range count {
		e, ok := parseEntry(rest)
		if !ok || bytes.Compare(last, e.name) >= 0 {
			return nil, false
		}
		ix.entries, last, rest = append(ix.entries, e), e.name, rest[len(e.raw):]
	}
	return ix, ix.extensions(rest)
}

// parseEntry decodes the entry at the start of b; false if it is damaged or has unsupported flags.
func parseEntry(b []byte) (e indexEntry, ok bool) {
	if len(b) < entrySize(1) {
		return e, false
	}
	flags := binary.BigEndian.Uint16(b[entryFlags:])
	n := int(flags & longName)
	if n == longName {
		n = bytes.IndexByte(b[entryName:], 0)
	}
	if flags > longName || n <= 0 || len(b) < entrySize(n) {
		return e, false
	}
	return indexEntry{raw: b[:entrySize(n)], name: b[entryName : entryName+n]}, true
}

// extensions decodes the extensions in b into ix; false if one is damaged or mandatory.
func (ix *index) extensions(b []byte) bool {
	for len(b) > 0 {
		if len(b) < 8 || uint64(len(b)-8) < uint64(binary.BigEndian.Uint32(b[4:])) {
			return false
		}
		kind, content := string(b[:4]), b[8:8+binary.BigEndian.Uint32(b[4:])]
		b = b[8+len(content):]
		switch kind {
		case "TREE":
			tree, left, ok := parseCachedTree(content, 0)
			if !ok || len(left) > 0 {
				return false
			}
			ix.tree = tree
		case "EOIE", "IEOT": // where entries begin, for readers with threads
		default:
			return false
		}
	}
	return true
}

// find returns the position of a path in the entries, and whether it is there; if not,
// the position is where it would be inserted.
func (ix *index) find(name string) (int, bool) {
	return slices.BinarySearchFunc(ix.entries, name, func(e indexEntry, name string) int {
		return bytes.Compare(e.name, []byte(name))
	})
}

// put adds or replaces an entry.
func (ix *index) put(e indexEntry) {
	at, there := ix.find(string(e.name))
	if there {
		ix.entries[at] = e
	} else {
		ix.entries = slices.Insert(ix.entries, at, e)
	}
}

func (ix *index) remove(name string) {
	if at, there := ix.find(name); there {
		ix.entries = slices.Delete(ix.entries, at, at+1)
	}
}

// hasBelow reports whether the index has entries below the folder name.
func (ix *index) hasBelow(name string) bool {
	at, _ := ix.find(name + "/")
	return at < len(ix.entries) && bytes.HasPrefix(ix.entries[at].name, []byte(name+"/"))
}

// encode returns the index in file format, with its cached tree and checksum.
func (ix *index) encode() []byte {
	size := 12 + sha1.Size
	for _, e := range ix.entries {
		size += len(e.raw)
	}
	b := append(make([]byte, 0, size+size/16), "DIRC\x00\x00\x00\x02"...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(ix.entries)))
	for _, e := range ix.entries {
		b = append(b, e.raw...)
	}
	if ix.tree != nil {
		tree := ix.tree.append(nil)
		b = append(b, "TREE"...)
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(tree))), tree...)
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

// below returns the number of entries at the start of entries whose names begin with
// folder, which ends with a slash.
func below(entries []indexEntry, folder []byte) int {
	return sort.Search(len(entries), func(i int) bool { return !bytes.HasPrefix(entries[i].name, folder) })
}

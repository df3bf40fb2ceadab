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
	entries []indexEntry // by name, in byte order
	tree    *cachedTree  // of the entries as they were read; nil when git kept none
}

// indexEntry is one path, as the file has it.
type indexEntry struct {
	raw  []byte
	name []byte // part of raw
}

// Where the fields of an entry lie.
const (
	entryMTime = 8
	entryMode  = 24
	entryID    = 40
	entryFlags = 60
	entryName  = 62
)

func (e indexEntry) mode() uint32 { return binary.BigEndian.Uint32(e.raw[entryMode:]) }
func (e indexEntry) id() objectID { return objectID(e.raw[entryID:]) }

// before reports whether the entry's file is older than a time, so that its
// stat says whether it changed since the index was written.
func (e indexEntry) before(t unix.Timespec) bool {
	sec, nsec := binary.BigEndian.Uint32(e.raw[entryMTime:]), binary.BigEndian.Uint32(e.raw[entryMTime+4:])
	return int64(sec) < t.Sec || int64(sec) == t.Sec && int64(nsec) < t.Nsec
}

// newEntry makes an entry of a file that was as st says when it was read.
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

// longName in the flags says that the name's length does not fit there.
const longName = 0xfff

// entrySize of a name of n bytes: one to eight zero bytes end it.
func entrySize(n int) int { return (entryName + n + 8) &^ 7 }

// parseIndex reads an index. It is not ok when it is damaged or holds anything
// that a plain one does not: another version, unmerged or flagged paths, or
// extensions that a writer must understand.
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

// find is where a path is in the index, or would be.
func (ix *index) find(name string) (int, bool) {
	return slices.BinarySearchFunc(ix.entries, name, func(e indexEntry, name string) int {
		return bytes.Compare(e.name, []byte(name))
	})
}

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

// hasBelow reports whether a path is a folder to the index.
func (ix *index) hasBelow(name string) bool {
	at, _ := ix.find(name + "/")
	return at < len(ix.entries) && bytes.HasPrefix(ix.entries[at].name, []byte(name+"/"))
}

// encode writes the index with its tree.
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

// below is how many of the entries lie in the folder that the first bytes of
// all of them, up to a slash, name.
func below(entries []indexEntry, folder []byte) int {
	return sort.Search(len(entries), func(i int) bool { return !bytes.HasPrefix(entries[i].name, folder) })
}

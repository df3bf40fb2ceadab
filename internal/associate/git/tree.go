package git

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// cachedTree is the index's record of the tree object of a folder.
type cachedTree struct {
	name    string // the folder's name in its parent, empty for the root
	entries int    // index entries in and below the folder; -1 if the record is out of date
	id      objectID
	below   []*cachedTree
}

// maxFolders limits the depth of folders in an index.
const maxFolders = 1000

// parseCachedTree decodes the tree at the start of b and those below it, and returns the rest of b; ok
// is false if it is damaged or too deep.
func parseCachedTree(b []byte, depth int) (t *cachedTree, rest []byte, ok bool) {
	name, b, named := bytes.Cut(b, []byte{0})
	line, b, ended := bytes.Cut(b, []byte{'\n'})
	counts := bytes.Fields(line)
	if !named || !ended || len(counts) != 2 || depth > maxFolders {
		return nil, nil, false
	}
	t = &cachedTree{name: string(name)}
	entries, err1 := strconv.Atoi(string(counts[0]))
	below, err2 := strconv.Atoi(string(counts[1]))
	if err1 != nil || err2 != nil || below < 0 {
		return nil, nil, false
	}
	if t.entries = entries; entries >= 0 {
		if len(b) < len(t.id) {
			return nil, nil, false
		}
		t.id, b = objectID(b), b[len(t.id):]
	}
	for range below {
		var sub *cachedTree
		if sub, b, ok = parseCachedTree(b, depth+1); !ok {
			return nil, nil, false
		}
		t.below = append(t.below, sub)
	}
	return t, b, true
}

// append appends the tree and those below it in the index's format to b.
func (t *cachedTree) append(b []byte) []byte {
	b = fmt.Appendf(b, "%s\x00%d %d\n", t.name, t.entries, len(t.below))
	if t.entries >= 0 {
		b = append(b, t.id[:]...)
	}
	for _, sub := range t.below {
		b = sub.append(b)
	}
	return b
}

// sub returns the child tree with a name; nil if there is none, or t is nil.
func (t *cachedTree) sub(name string) *cachedTree {
	if t != nil {
		for _, s := range t.below {
			if s.name == name {
				return s
			}
		}
	}
	return nil
}

// treeMaker makes the tree objects of an index.
type treeMaker struct {
	changed map[string]bool // folders with changes in or below them; "." is the root
	write   func(content []byte) (objectID, error)
}

// make returns the tree of the entries, all of which lie below folder, and writes the
// trees that changed. known is the index's cached tree of the folder, or nil.
func (m *treeMaker) make(folder string, entries []indexEntry, known *cachedTree) (*cachedTree, error) {
	at := folder
	if at == "" {
		at = "."
	}
	if known != nil && known.entries == len(entries) && !m.changed[at] {
		return known, nil
	}
	prefix := 0
	if folder != "" {
		prefix = len(folder) + 1
	}
	t := &cachedTree{name: folder[strings.LastIndexByte(folder, '/')+1:], entries: len(entries)}
	var content []byte
	for len(entries) > 0 {
		name := entries[0].name[prefix:]
		slash := bytes.IndexByte(name, '/')
		if slash < 0 {
			content = appendTreeEntry(content, entries[0].mode(), name, entries[0].id())
			entries = entries[1:]
			continue
		}
		n := below(entries, entries[0].name[:prefix+slash+1])
		sub, err := m.make(string(entries[0].name[:prefix+slash]), entries[:n], known.sub(string(name[:slash])))
		if err != nil {
			return nil, err
		}
		t.below = append(t.below, sub)
		content = appendTreeEntry(content, treeMode, name[:slash], sub.id)
		entries = entries[n:]
	}
	id, err := m.write(content)
	t.id = id
	return t, err
}

// treeMode is the mode of a folder's entry in a tree object.
const treeMode = 0o40000

// appendTreeEntry appends one entry of a tree object to b.
func appendTreeEntry(b []byte, mode uint32, name []byte, id objectID) []byte {
	b = strconv.AppendUint(b, uint64(mode), 8)
	b = append(append(b, ' '), name...)
	b = append(b, 0)
	return append(b, id[:]...)
}

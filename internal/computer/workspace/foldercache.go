package workspace

import (
	"slices"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// What is kept of folders at most; a single larger one is kept alone.
const (
	cachedFolders = 64
	cachedEntries = 100_000
)

// folderCache keeps the entries of the folders that were listed or searched last: a
// large one is asked for page by page or path by path, and its manifest is read,
// checked and decoded whole.
// A digest names one content for ever, so nothing kept is ever out of date.
type folderCache struct {
	mu   sync.Mutex // guards kept
	kept []cachedFolder
}

// cachedFolder is one folder; the least used is the last that is kept.
type cachedFolder struct {
	digest  choir.Digest
	entries []snapshot.Entry // in the byte order of their names; nobody writes to them
}

// get finds a folder and makes it the most recently used.
func (f *folderCache) get(digest choir.Digest) ([]snapshot.Entry, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.IndexFunc(f.kept, func(c cachedFolder) bool { return c.digest == digest })
	if at < 0 {
		return nil, false
	}
	found := f.kept[at]
	f.kept = slices.Insert(slices.Delete(f.kept, at, at+1), 0, found)
	return found.entries, true
}

// put keeps a folder, and lets go of what was used least.
func (f *folderCache) put(digest choir.Digest, entries []snapshot.Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = slices.DeleteFunc(f.kept, func(c cachedFolder) bool { return c.digest == digest })
	f.kept = slices.Insert(f.kept, 0, cachedFolder{digest, entries})
	keep, sum := 0, 0
	for _, c := range f.kept {
		sum += len(c.entries)
		if keep > 0 && (sum > cachedEntries || keep == cachedFolders) {
			break
		}
		keep++
	}
	f.kept = slices.Delete(f.kept, keep, len(f.kept))
}

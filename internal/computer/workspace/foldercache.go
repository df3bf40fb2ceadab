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

// folderCache caches the decoded entries of recently used folders, because clients ask
// for a large folder page by page and each time the whole manifest would be decoded. A
// digest identifies immutable content, so entries never become stale.
type folderCache struct {
	mu   sync.Mutex // guards kept
	kept []cachedFolder
}

// cachedFolder is one cached folder; the list is ordered from most to least recently
// used.
type cachedFolder struct {
	digest  choir.Digest
	entries []snapshot.Entry // in the byte order of their names; nobody writes to them
}

// get returns the entries of a cached folder and makes it the most recently used.
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

// put caches a folder, and drops the least recently used one.
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

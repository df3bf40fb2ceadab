package packages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// fetch is an item that is being fetched for one or more who wait for it.
type fetch struct {
	cache  *Cache
	key    string
	item   Item
	ctx    context.Context
	cancel context.CancelFunc
	room   room // in the store, until the content is there or the file is closed

	mu      sync.Mutex // guards the rest; held for no reading, writing or asking
	waiting int
	news    chan struct{} // closed and replaced at each change of waiting and of what follows
	file    *os.File      // nil before the host has answered; closed by the last who leaves
	size    int64         // of the content; -1 until it is known
	written int64
	address netip.Addr
	asked   []Request // pages from which the digest is
	learned bool      // the digest is known
	ended   bool
	err     error
	sum     string // the SHA-256, once it ended well
	kept    *kept  // the content in the store, released when the file is closed; nil if it is not kept
}

// reservedAtOnce is the most that is reserved at once for content of unknown size.
const reservedAtOnce = 4 << 20

// newFetch returns a fetch with one who waits.
func newFetch(c *Cache, key string, item Item) *fetch {
	f := &fetch{cache: c, key: key, item: item, waiting: 1, news: make(chan struct{}), size: -1}
	f.ctx, f.cancel = context.WithCancel(c.ctx)
	return f
}

// addWaiter counts one more who waits. ok is false if the fetch was given up or has ended. The content
// of an ended fetch is read from the store, which compares it with its digest anew.
func (f *fetch) addWaiter() (ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting == 0 || f.ended {
		return false
	}
	f.waiting++
	f.wake()
	return true
}

// removeWaiter counts one less who waits. After the last one the fetch ends.
func (f *fetch) removeWaiter() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting--
	f.closeUnused()
	if f.waiting == 0 {
		f.cancel()
	}
}

// closeUnused closes the file when nobody writes or reads it any more, and gives back its room. The
// caller holds mu.
func (f *fetch) closeUnused() {
	if f.ended && f.waiting == 0 && f.file != nil {
		f.file.Close() // all that was written is known already
		f.file = nil
		if f.kept != nil {
			f.cache.store.releaseFile(f.kept)
		}
		f.cache.store.free(&f.room)
	}
}

// change changes the state and wakes all who wait.
func (f *fetch) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	f.wake()
}

// wake wakes all who wait for a change. The caller holds mu.
func (f *fetch) wake() {
	close(f.news)
	f.news = make(chan struct{})
}

// await waits until the content may be read: when it is whole, or after some patience when its
// size and digest are known. It returns the size, and the address that was dialled.
func (f *fetch) await(ctx context.Context, patience time.Duration) (int64, netip.Addr, error) {
	over := time.NewTimer(patience)
	defer over.Stop()
	late := false
	for {
		f.mu.Lock()
		ended, err, size, address, news := f.ended, f.err, f.size, f.address, f.news
		ready := late && size >= 0 && f.learned && f.written > 0
		f.mu.Unlock()
		if ended || ready {
			return size, address, err
		}
		select {
		case <-news:
		case <-over.C:
			late = true
		case <-ctx.Done():
			return 0, netip.Addr{}, ctx.Err()
		}
	}
}

// readAt reads content at an offset, and waits for it.
func (f *fetch) readAt(ctx context.Context, p []byte, at int64) (int, error) {
	for {
		f.mu.Lock()
		file, ended, err, written, size, news := f.file, f.ended, f.err, f.written, f.size, f.news
		f.mu.Unlock()
		open := min(written, size-held)
		switch {
		case ended && err != nil:
			return 0, err
		case ended:
			open = size
		}
		if at < open {
			return file.ReadAt(p[:min(int64(len(p)), open-at)], at)
		}
		if ended {
			return 0, io.EOF
		}
		select {
		case <-news:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// run fetches the item, compares it with its digest and puts it into the store.
func (f *fetch) run() {
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	var learning sync.WaitGroup
	var right check
	var unknown error
	learning.Go(func() {
		if right, unknown = f.findCheck(ctx); unknown != nil {
			cancel() // the content is of no use
			return
		}
		f.change(func() { f.learned = true })
	})
	sum, err := f.download(ctx)
	if err != nil {
		cancel() // its digest is of no use
	}
	learning.Wait()
	if unknown != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = unknown
	}
	if err == nil {
		var ok bool
		if ok, err = right(f.file); err == nil && !ok {
			err = ErrFalse
			f.cache.pages.forget(f.asked) // one of which may be what is false
		}
	}
	f.finish(sum, err)
}

// findCheck returns the check of the content, for which it asks the registry.
func (f *fetch) findCheck(ctx context.Context) (check, error) {
	host := f.item.Host
	if len(f.item.Asks) > 0 {
		host = f.item.Asks[0]
	}
	leave, err := f.cache.learning.takePlace(ctx, host)
	if err != nil {
		return nil, err
	}
	defer leave()
	return f.item.findCheck(ctx, func(ctx context.Context, r Request) ([]byte, error) {
		f.change(func() { f.asked = append(f.asked, r) })
		return f.cache.pages.read(ctx, r)
	})
}

// finish tells all who wait how the fetch ended, and keeps what is right.
func (f *fetch) finish(sum string, err error) {
	var kept *kept
	if err == nil {
		kept, _ = f.cache.store.add(f.key, f.file.Name(), sum, f.written, &f.room, f.cache.cfg.Now())
	}
	if kept == nil && f.file != nil {
		_ = os.Remove(f.file.Name()) // else the next start does; what is right is read on from the file that is open
	}
	if err != nil && !errors.Is(err, ErrFalse) {
		err = errors.Join(ErrPass, err)
	}
	f.change(func() {
		f.ended, f.err, f.kept = true, err, kept
		if err == nil {
			f.size, f.sum = f.written, sum
		}
		f.closeUnused()
	})
}

// digest returns the SHA-256 of content that is whole.
func (f *fetch) digest() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sum
}

// download writes the content to a new file, and returns the SHA-256 of it.
func (f *fetch) download(ctx context.Context) (sum string, err error) {
	a, err := f.cache.cfg.From.Fetch(ctx, Request{Host: f.item.Host, Path: f.item.Path, Accept: "*/*"})
	if err != nil {
		return "", err
	}
	defer a.Body.Close()
	if a.Status != http.StatusOK || encoded(a.Header) {
		return "", ErrPass
	}
	store := f.cache.store
	file, err := store.create()
	if err != nil {
		return "", err
	}
	f.change(func() { f.file, f.address = file, a.Address })
	if a.Size > 0 {
		if err := store.reserve(&f.room, a.Size); err != nil {
			return "", err
		}
		// A full disk is known before anything is given out. Some file systems cannot.
		switch err := unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, a.Size); {
		case err == nil:
			store.fill(&f.room, a.Size)
		case errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT):
			return "", err
		}
	}
	f.change(func() { f.size = a.Size })
	h := sha256.New()
	buf := make([]byte, 128<<10)
	for {
		n, err := a.Body.Read(buf)
		if n > 0 {
			if f.written+int64(n) > f.room.size {
				if err := store.reserve(&f.room, max(int64(n), min(f.written, reservedAtOnce))); err != nil {
					return "", err
				}
			}
			h.Write(buf[:n])
			if _, err := file.Write(buf[:n]); err != nil {
				return "", err
			}
			store.fill(&f.room, f.written+int64(n))
			f.change(func() { f.written += int64(n) })
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", err
		}
	}
	if a.Size >= 0 && f.written != a.Size {
		return "", io.ErrUnexpectedEOF
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

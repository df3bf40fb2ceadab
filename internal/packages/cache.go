package packages

import (
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
)

// Config configures a cache. All of it is required but Patience.
type Config struct {
	Dir        string // of the content, for this cache alone
	Limit      int64  // bytes of all content, together with what is being fetched
	Registries []Registry
	From       Fetcher
	Now        func() time.Time
	// Patience is how long content is fetched before its beginning is given out; 0 is
	// DefaultPatience.
	Patience time.Duration
}

// DefaultPatience is below the time that pip waits for a byte.
const DefaultPatience = 5 * time.Second

// maxFetches is the number of items that are fetched at once.
const maxFetches = 64

// Cache keeps the content of registries. Its methods may be called by any goroutine.
type Cache struct {
	cfg      Config
	hosts    map[string]Registry
	store    *store
	pages    *pages
	learning *places // one for each digest that is looked for
	ctx      context.Context
	stop     context.CancelFunc
	all      sync.WaitGroup // the fetches

	mu      sync.Mutex // guards the rest; held for no reading, writing or asking
	fetches map[string]*fetch
	closed  bool
}

// Open opens the cache in a folder, which it creates if it is absent. Code unavailable: the
// folder cannot be read or written. Close ends it.
func Open(cfg Config) (*Cache, error) {
	if cfg.Patience == 0 {
		cfg.Patience = DefaultPatience
	}
	s, err := openStore(cfg.Dir, cfg.Limit)
	if err != nil {
		return nil, choir.Wrap("packages.open", choir.CodeUnavailable, err, "open the package cache %s", cfg.Dir)
	}
	c := &Cache{cfg: cfg, pages: newPages(cfg.From, cfg.Now), learning: newPlaces(), hosts: map[string]Registry{}, store: s, fetches: map[string]*fetch{}}
	c.ctx, c.stop = context.WithCancel(context.Background())
	for _, r := range cfg.Registries {
		for _, host := range r.Hosts() {
			c.hosts[host] = r
		}
	}
	return c, nil
}

// Close ends the fetches and waits for them. What is being read of them breaks off.
func (c *Cache) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.stop()
	c.all.Wait()
}

// Looks reports whether requests to a host are looked at.
func (c *Cache) Looks(host string) bool { return c.hosts[host] != nil }

// Usage returns how many items there are, their bytes, and the limit of these.
func (c *Cache) Usage() (items int, bytes, limit int64) {
	items, bytes = c.store.usage()
	return items, bytes, c.cfg.Limit
}

// Item returns the item at a path of a host; ok is false if the cache has nothing to do with it.
func (c *Cache) Item(host, path string) (Item, bool) {
	r := c.hosts[host]
	if r == nil {
		return Item{}, false
	}
	return r.Item(host, path)
}

// Open returns the content of an item, fetched if it is not there. Several who want one item
// share a fetch, which ends when the last of them has gone. It returns ErrPass if the host has to
// be asked without the cache, ErrFalse if the registry gives content of another digest than it
// says, or the error of the context.
func (c *Cache) Open(ctx context.Context, item Item) (*Content, error) {
	key := keyOf(item.Host, item.Path)
	for {
		f, first, err := c.fetching(key, item)
		if err != nil {
			return nil, err
		}
		if f == nil {
			file, err := c.store.open(key, c.cfg.Now())
			if file == nil && err == nil {
				continue // it was changed, and is gone now
			}
			if err != nil {
				return nil, err
			}
			content := contentOf(ctx, item.Type, true)
			content.file, content.Size = file, file.size
			return content, nil
		}
		content := contentOf(ctx, item.Type, !first)
		content.fetch = f
		if content.Size, content.Address, err = f.await(ctx, c.cfg.Patience); err != nil {
			f.removeWaiter()
			return nil, err
		}
		return content, nil
	}
}

// fetching returns the fetch of an item, which is begun if there is neither one nor the content;
// nil if there is the content. The caller has joined it, and leaves it.
func (c *Cache) fetching(key string, item Item) (f *fetch, first bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f = c.fetches[key]; f != nil && f.addWaiter() {
		return f, false, nil
	}
	if c.store.has(key) {
		return nil, false, nil
	}
	if c.closed || len(c.fetches) >= maxFetches {
		return nil, false, ErrPass
	}
	f = newFetch(c, key, item)
	c.fetches[key] = f
	c.all.Go(func() {
		f.run()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.fetches[key] == f {
			delete(c.fetches, key)
		}
	})
	return f, true, nil
}

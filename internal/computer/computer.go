// Package computer is one computer as one value: its log, blobs, relay and both
// sandboxes, reachable only through its methods.
package computer

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"choiros/internal/blob"
	"choiros/internal/bus"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/sandbox"
	"choiros/internal/snapshot"
)

// Config is what a computer needs from the control plane.
type Config struct {
	ID, User choir.ID
	Name     string
	Dir      string // its data folder; made when absent
	Guest    string // folder with the guest binaries
	HostUID  int    // host user of its sandboxes when the control plane is root, else 0
	Driver   sandbox.Driver
	// OpenBlobs opens the computer's content-addressed store.
	OpenBlobs func(dir string) (blob.Store, error)
	Bus       *hub.Server
	Limits    sandbox.Limits
	// RequireLimits refuses a machine that cannot hold Limits by cgroups.
	RequireLimits bool
	RunLimits     bus.Limits // how far one run may go
	// Egress makes the handler behind the egress door: the model gateway, and
	// later the proxy.
	Egress func(*Computer) http.Handler
	// AutoCheckpoint is after how many tasks, or how long, a checkpoint is made.
	AutoCheckpoint AutoCheckpoint
	Version        string
	Now            func() time.Time
	Random         io.Reader
	Log            *slog.Logger
}

// Computer is one computer. Its methods may be called at once.
type Computer struct {
	cfg    Config
	store  *eventstore.Store
	blobs  blob.Store
	keeper *snapshot.Keeper
	seats  map[choir.Role]*seat

	// tree is a one-place queue for whoever scans or restores the workspace.
	tree chan struct{}
	// ids guards cfg.Random.
	ids sync.Mutex
	// uploads are blobs that the guests send in chunks.
	uploads uploads
	// recovered says that the session before did not end in order.
	recovered bool
}

// Open opens the computer's log and creates what is missing. It starts nothing;
// Serve does.
func Open(ctx context.Context, cfg Config) (*Computer, error) {
	if err := os.MkdirAll(cfg.Dir, 0o711); err != nil {
		return nil, choir.Wrap("computer.open", choir.CodeUnavailable, err, "make the computer's folder")
	}
	blobs, err := cfg.OpenBlobs(filepath.Join(cfg.Dir, "blobs"))
	if err != nil {
		return nil, err
	}
	c := &Computer{cfg: cfg, blobs: blobs, keeper: snapshot.NewKeeper(blobs), tree: make(chan struct{}, 1)}
	c.store, err = eventstore.Open(ctx, cfg.Dir, eventstore.Config{
		Computer: cfg.ID, User: cfg.User, Blobs: blobs,
		Now: func() choir.Time { return choir.TimeOf(cfg.Now()) },
	})
	if err != nil {
		return nil, err
	}
	if err := c.begin(ctx); err != nil {
		return nil, errorsJoin(err, c.store.Close())
	}
	c.seats = map[choir.Role]*seat{
		choir.RoleDirector:  newSeat(c, choir.RoleDirector),
		choir.RoleAssociate: newSeat(c, choir.RoleAssociate),
	}
	return c, nil
}

// OpenReadOnly opens the log and content of a computer that does not run. Only
// ID, User, Name, Dir and OpenBlobs of the configuration are used, and nothing but reading
// works.
func OpenReadOnly(ctx context.Context, cfg Config) (*Computer, error) {
	blobs, err := cfg.OpenBlobs(filepath.Join(cfg.Dir, "blobs"))
	if err != nil {
		return nil, err
	}
	c := &Computer{cfg: cfg, blobs: blobs, keeper: snapshot.NewKeeper(blobs), tree: make(chan struct{}, 1)}
	if c.store, err = eventstore.OpenReadOnly(ctx, cfg.Dir); err != nil {
		return nil, err
	}
	c.seats = map[choir.Role]*seat{
		choir.RoleDirector:  newSeat(c, choir.RoleDirector),
		choir.RoleAssociate: newSeat(c, choir.RoleAssociate),
	}
	return c, nil
}

// begin makes the first event of a new log, and records repairs of an old one.
func (c *Computer) begin(ctx context.Context) error {
	if c.store.ReadOnly() != "" {
		return nil
	}
	var payloads []choir.Payload
	if seq, _ := c.store.Head(); seq == 0 {
		payloads = append(payloads, choir.ComputerCreated{Name: c.cfg.Name, Format: 1})
	} else {
		last, err := c.lastSessionEvent(ctx)
		if err != nil {
			return err
		}
		c.recovered = last == "session.started"
	}
	for _, r := range c.store.Repairs() {
		payloads = append(payloads, r)
	}
	if len(payloads) == 0 {
		return nil
	}
	_, err := c.append(ctx, choir.RoleControl, payloads...)
	return err
}

// ID is the computer's identity.
func (c *Computer) ID() choir.ID { return c.cfg.ID }

// User is the owner.
func (c *Computer) User() choir.ID { return c.cfg.User }

// Name is what the owner calls it.
func (c *Computer) Name() string { return c.cfg.Name }

// Store is the computer's log, for reading.
func (c *Computer) Store() *eventstore.Store { return c.store }

// Blobs is the computer's content.
func (c *Computer) Blobs() blob.Store { return c.blobs }

// Close closes the log. Serve must have returned.
func (c *Computer) Close() error { return c.store.Close() }

// newID makes an id now.
func (c *Computer) newID() (choir.ID, error) {
	c.ids.Lock()
	defer c.ids.Unlock()
	return choir.NewID(choir.TimeOf(c.cfg.Now()), c.cfg.Random)
}

// Append stamps and appends drafts that came with a role's connection.
func (c *Computer) Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	return c.store.Append(ctx, role, drafts...)
}

// append makes drafts of payloads that belong to no run.
func (c *Computer) append(ctx context.Context, role choir.Role, payloads ...choir.Payload) ([]choir.Receipt, error) {
	drafts := make([]choir.Draft, 0, len(payloads))
	for _, p := range payloads {
		d, err := c.draft(p)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, d)
	}
	return c.store.Append(ctx, role, drafts...)
}

// draft gives a payload a fresh id.
func (c *Computer) draft(p choir.Payload) (choir.Draft, error) {
	id, err := c.newID()
	if err != nil {
		return choir.Draft{}, err
	}
	return choir.NewDraft(id, p)
}

package supervisor

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/control/api"
	"choiros/internal/desktop"
)

// Reader is a control plane that only reads: what the CLI uses when none runs.
type Reader struct {
	cfg       Config
	computers []*computer.Computer
}

// OpenReader opens the logs of a data folder for reading.
func OpenReader(ctx context.Context, cfg Config) (*Reader, error) {
	owner, err := loadOwner(cfg.Data)
	if err != nil {
		return nil, err
	}
	r := &Reader{cfg: cfg}
	for _, e := range owner.Computers {
		dir := filepath.Join(cfg.Data, "computers", string(e.ID))
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			// It came to be just before a crash, and its folder has no name yet.
			named := dir
			dir = filepath.Join(cfg.Data, "computers", newPrefix+string(e.ID))
			if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
				return nil, joined([]error{owner.lost(e, named), r.Close()})
			}
		}
		c, err := computer.OpenReadOnly(ctx, computer.Config{
			ID: e.ID, User: owner.User, Name: e.Name, Dir: dir, OpenBlobs: cfg.OpenBlobs,
		})
		if err != nil {
			return nil, joined([]error{err, r.Close()})
		}
		r.computers = append(r.computers, c)
	}
	return r, nil
}

// Close closes the logs.
func (r *Reader) Close() error {
	var errs []error
	for _, c := range r.computers {
		errs = append(errs, c.Close())
	}
	return joined(errs)
}

// Computers lists the computers.
func (r *Reader) Computers() []*computer.Computer { return r.computers }

// Computer finds one; code not_found when there is none.
func (r *Reader) Computer(id choir.ID) (*computer.Computer, error) { return find(r.computers, id) }

// Failed lists none: a computer that cannot be read refuses the whole folder.
func (r *Reader) Failed() []api.FailedComputer { return nil }

// Health of something that only reads is that it does not run.
func (r *Reader) Health(context.Context) api.Health {
	return api.Health{Status: "failing", Version: r.cfg.Version, Failing: map[string]string{"choir": "it does not run"}}
}

// Doctor knows only the settings.
func (r *Reader) Doctor(context.Context) api.Doctor {
	return api.Doctor{Version: r.cfg.Version, Data: r.cfg.Data, Settings: r.cfg.Connections.Override(r.cfg.File.List(r.cfg.From))}
}

// Models says that nothing runs.
func (r *Reader) Models() api.ModelState { return api.ModelState{Message: "choir does not run"} }

// Settings lists the settings that would be in force.
func (r *Reader) Settings() api.Settings { return settingsOf(r.cfg) }

// Waits is empty: nothing runs.
func (r *Reader) Waits(choir.ID, choir.ID) string { return "" }

// Connect is refused.
func (r *Reader) Connect(context.Context, api.ConnectRequest) (api.Connected, error) {
	return api.Connected{}, r.refuse()
}

// Disconnect is refused.
func (r *Reader) Disconnect(context.Context, string) (api.Settings, error) {
	return api.Settings{}, r.refuse()
}

// Mint is refused.
func (r *Reader) Mint(choir.Role, choir.ID, choir.ID) (bus.Credentials, error) {
	return bus.Credentials{}, r.refuse()
}

// HurryRun is refused.
func (r *Reader) HurryRun(context.Context, choir.ID, choir.ID) error { return r.refuse() }

// StartDemo is refused.
func (r *Reader) StartDemo(context.Context, choir.ID, choir.Role, api.DemoParts) (api.Demo, error) {
	return api.Demo{}, r.refuse()
}

// Fork is refused.
func (r *Reader) Fork(context.Context, choir.ID, choir.Role, api.ForkRequest) (api.Forked, error) {
	return api.Forked{}, r.refuse()
}

// Import is refused.
func (r *Reader) Import(context.Context, string, io.Reader) (api.Imported, error) {
	return api.Imported{}, r.refuse()
}

// Source is the shipped one: nothing serves another.
func (r *Reader) Source(context.Context, choir.ID) (desktop.Status, error) {
	return desktop.Status{Mode: desktop.ModeShipped}, nil
}

// NewLink is refused.
func (r *Reader) NewLink() (string, error) { return "", r.refuse() }

// RenewScrapeToken is refused.
func (r *Reader) RenewScrapeToken() (string, error) { return "", r.refuse() }

// RemoveScrapeToken is refused.
func (r *Reader) RemoveScrapeToken() error { return r.refuse() }

func (r *Reader) refuse() error {
	return choir.E("choir", choir.CodeUnavailable, "no choir is running on %s", r.cfg.Data).WithRemedy("start it with: choir up")
}

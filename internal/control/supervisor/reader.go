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

// Reader is a read-only control plane, for the CLI while none runs.
type Reader struct {
	cfg       Config
	user      choir.ID
	computers []*computer.Computer
}

// OpenReader opens the logs of a data folder for reading. It fails if any computer
// cannot be read.
func OpenReader(ctx context.Context, cfg Config) (*Reader, error) {
	owner, err := loadOwner(cfg.Data)
	if err != nil {
		return nil, err
	}
	r := &Reader{cfg: cfg, user: owner.User}
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

// User returns the first user of the data folder.
func (r *Reader) User() choir.ID { return r.user }

// Computers lists the computers.
func (r *Reader) Computers() []*computer.Computer { return r.computers }

// Computer returns a computer. Code not_found: there is none.
func (r *Reader) Computer(id choir.ID) (*computer.Computer, error) { return find(r.computers, id) }

// Failed returns none: OpenReader fails if a computer cannot be read.
func (r *Reader) Failed() []api.FailedComputer { return nil }

// Hibernated returns none: all computers are open for reading.
func (r *Reader) Hibernated() []api.HibernatedComputer { return nil }

// Health always fails: a Reader opens the data folder of a choir that is not running.
func (r *Reader) Health(context.Context) api.Health {
	return api.Health{Status: "failing", Version: r.cfg.Version, Failing: map[string]string{"choir": "it does not run"}}
}

// Doctor returns the settings, without checks.
func (r *Reader) Doctor(context.Context) api.Doctor {
	return api.Doctor{Version: r.cfg.Version, Data: r.cfg.Data, Settings: r.cfg.Connections.Override(r.cfg.File.List(r.cfg.From))}
}

// Models returns no models, with the message that choir does not run.
func (r *Reader) Models() api.ModelState { return api.ModelState{Message: "choir does not run"} }

// Settings returns the settings that would be in force.
func (r *Reader) Settings() api.Settings { return settingsOf(r.cfg) }

// ChoosePhrase fails with code unavailable, because no choir runs.
func (r *Reader) ChoosePhrase(context.Context, string) (api.Settings, error) {
	return api.Settings{}, r.refuse()
}

// Waits returns "", because nothing runs.
func (r *Reader) Waits(choir.ID, choir.ID) string { return "" }

// Connect fails with code unavailable, because no choir runs.
func (r *Reader) Connect(context.Context, api.ConnectRequest) (api.Connected, error) {
	return api.Connected{}, r.refuse()
}

// TestModels fails with code unavailable, because no choir runs.
func (r *Reader) TestModels(context.Context, api.TestModelsRequest) (api.TestedModels, error) {
	return api.TestedModels{}, r.refuse()
}

// Disconnect fails with code unavailable, because no choir runs.
func (r *Reader) Disconnect(context.Context, string) (api.Settings, error) {
	return api.Settings{}, r.refuse()
}

// Mint fails with code unavailable, because no choir runs.
func (r *Reader) Mint(choir.Role, choir.ID, choir.ID) (bus.Credentials, error) {
	return bus.Credentials{}, r.refuse()
}

// HurryRun fails with code unavailable, because no choir runs.
func (r *Reader) HurryRun(context.Context, choir.ID, choir.ID) error { return r.refuse() }

// StartDemo fails with code unavailable, because no choir runs.
func (r *Reader) StartDemo(context.Context, choir.ID, choir.Role, api.DemoParts) (api.Demo, error) {
	return api.Demo{}, r.refuse()
}

// Fork fails with code unavailable, because no choir runs.
func (r *Reader) Fork(context.Context, choir.ID, choir.Role, api.ForkRequest) (api.Forked, error) {
	return api.Forked{}, r.refuse()
}

// Import fails with code unavailable, because no choir runs.
func (r *Reader) Import(context.Context, string, io.Reader) (api.Imported, error) {
	return api.Imported{}, r.refuse()
}

// Source returns the shipped source, because no development server runs.
func (r *Reader) Source(context.Context, choir.ID) (desktop.Status, error) {
	return desktop.Status{Mode: desktop.ModeShipped}, nil
}

// NewLink fails with code unavailable, because no choir runs.
func (r *Reader) NewLink() (string, error) { return "", r.refuse() }

// ReloadEgress fails with code unavailable, because no choir runs.
func (r *Reader) ReloadEgress(context.Context) (api.EgressReloaded, error) {
	return api.EgressReloaded{}, r.refuse()
}

// ChooseEgress fails with code unavailable, because no choir runs.
func (r *Reader) ChooseEgress(context.Context, choir.EgressMode) (api.EgressReloaded, error) {
	return api.EgressReloaded{}, r.refuse()
}

// ChooseListed fails with code unavailable, because no choir runs.
func (r *Reader) ChooseListed(context.Context, string, bool) (api.EgressReloaded, error) {
	return api.EgressReloaded{}, r.refuse()
}

// RenewScrapeToken fails with code unavailable, because no choir runs.
func (r *Reader) RenewScrapeToken() (string, error) { return "", r.refuse() }

// RemoveScrapeToken fails with code unavailable, because no choir runs.
func (r *Reader) RemoveScrapeToken() error { return r.refuse() }

// refuse returns the error of code unavailable for operations that need a running choir.
func (r *Reader) refuse() error {
	return choir.Refuse("choir", choir.ReasonNotRunningHere, choir.TextOf("path", r.cfg.Data))
}

// RotateVault fails: the vault is another process's.
func (r *Reader) RotateVault(context.Context) error { return r.refuse() }

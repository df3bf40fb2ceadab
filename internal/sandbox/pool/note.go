package pool

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/durablefile"
	"choiros/internal/sandbox"
)

// notePath returns the path of the note of a role's ready sandbox.
func (p *Pool) notePath(spec sandbox.Spec) string {
	return filepath.Join(p.cfg.Dir, string(spec.Computer)+"-"+string(spec.Role)+".json")
}

// writeNote notes a ready sandbox.
func (p *Pool) writeNote(spec sandbox.Spec, h sandbox.Handle) error {
	raw, err := json.Marshal(h)
	if err == nil {
		err = os.MkdirAll(p.cfg.Dir, 0o700)
	}
	if err == nil {
		err = durablefile.Write(p.notePath(spec), raw)
	}
	return choir.Wrap("pool.note", choir.CodeUnavailable, err, "note a sandbox that was started beforehand")
}

// removeNote removes the note of a role's ready sandbox. It need not be durable: no sandbox
// outlives the machine.
func (p *Pool) removeNote(spec sandbox.Spec) error {
	err := os.Remove(p.notePath(spec))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return choir.Wrap("pool.note", choir.CodeUnavailable, err, "remove the note of a sandbox that was started beforehand")
}

// cleanPatience is the time that the removal of one sandbox may take.
const cleanPatience = 15 * time.Second

// Clean destroys the sandboxes that a control plane of the same data folder left ready when it was
// killed. It is called before any computer is opened. A sandbox that cannot be ended is logged,
// and its note stays.
func (p *Pool) Clean(ctx context.Context) {
	left, err := filepath.Glob(filepath.Join(p.cfg.Dir, "*.json"))
	if err != nil {
		left = nil // the folder has a bracket in its name: what is left ends as an orphan
	}
	var all sync.WaitGroup
	for _, path := range left {
		all.Go(func() {
			if err := p.clean(ctx, path); err != nil {
				p.cfg.Log.Warn("a sandbox that was started beforehand by an earlier choir is left", "path", path, "error", err)
			}
		})
	}
	all.Wait()
}

// clean destroys the sandbox of a note, if it lives, and removes the note.
func (p *Pool) clean(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, cleanPatience)
	defer cancel()
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var h sandbox.Handle
	if json.Unmarshal(raw, &h) != nil {
		return os.Remove(path) // whatever it named ends as an orphan
	}
	b, err := p.Driver.Recover(ctx, h)
	switch sandbox.VerdictOf(err) {
	case sandbox.Found:
		if err := b.Destroy(ctx); err != nil {
			return err
		}
	case sandbox.Unknown:
		return err
	}
	return os.Remove(path)
}

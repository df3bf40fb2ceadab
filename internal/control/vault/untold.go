package vault

import (
	"context"
	"encoding/json"
	"errors"

	"choiros/internal/choir"
	"choiros/internal/keyring"
)

// change changes an entry of a computer, cuts the requests with its former key and appends the
// event of the change. The vault says that the event is missing until it is there, so that
// RecordUntold appends it when choir ends in between.
func (v *Vault) change(ctx context.Context, c Computer, role choir.Role, name string, do func(keyring.Change) error) error {
	end, err := v.beginChange(ctx, c.ID())
	if err != nil {
		return err
	}
	defer end()
	if err := v.recordUntold(ctx, c); err != nil {
		return err
	}
	if err := v.rememberFormer(ctx, c.ID(), name); err != nil {
		return err
	}
	err = do(keyring.Change{Role: role, After: c.Head()})
	if err == nil || errors.Is(err, keyring.ErrUncertain) {
		v.noteChange()
		c.EndKey(name)
	}
	if err != nil {
		return err
	}
	// The key is kept: a client that went away meanwhile does not keep the event from the log.
	return v.recordUntold(context.WithoutCancel(ctx), c)
}

// beginChange waits until no other change of a computer's entries is in progress. The caller
// calls end. Code cancelled: ctx ended first.
func (v *Vault) beginChange(ctx context.Context, computer choir.ID) (end func(), err error) {
	v.mu.Lock()
	turn, ok := v.changing[computer]
	if !ok {
		turn = make(chan struct{}, 1)
		v.changing[computer] = turn
	}
	v.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, choir.Wrap("vault", choir.CodeCancelled, ctx.Err(), "wait for another change of the vault")
	}
}

// RecordUntold appends the events of changes of a computer's entries that its log does not have,
// because choir ended before them or the log took none. Each is appended once.
func (v *Vault) RecordUntold(ctx context.Context, c Computer) error {
	if v.keys == nil {
		return nil
	}
	end, err := v.beginChange(ctx, c.ID())
	if err != nil {
		return err
	}
	defer end()
	return v.recordUntold(ctx, c)
}

// recordUntold is RecordUntold. The caller has begun a change of the computer.
func (v *Vault) recordUntold(ctx context.Context, c Computer) error {
	all, err := v.keys.Untold(ctx, c.ID())
	if err != nil {
		return err
	}
	for _, u := range all {
		told, err := hasEventOf(ctx, c, u)
		if err == nil && !told {
			var p choir.Payload = choir.VaultRemoved{Name: u.Name}
			if u.Bound != nil {
				p = choir.VaultSet{Name: u.Name, Bound: *u.Bound}
			}
			_, err = c.Append(ctx, u.Role, p)
		}
		if err == nil {
			err = v.keys.Told(ctx, u)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hasEventOf reports whether the log of a computer has an event of a change.
func hasEventOf(ctx context.Context, c Computer, u keyring.Untold) (bool, error) {
	for e, err := range c.Events(ctx, u.After+1) {
		if err != nil {
			return false, err
		}
		if e.Type != choir.TypeVaultSet && e.Type != choir.TypeVaultRemoved {
			continue
		}
		var said struct{ Name string }
		if err := json.Unmarshal(e.Payload, &said); err == nil && said.Name == u.Name {
			return true, nil
		}
	}
	return false, nil
}

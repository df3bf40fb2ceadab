package egress

import (
	"context"
	"errors"

	"choiros/internal/choir"
)

// cutKey is why a passage ends whose key was removed from the vault or set anew.
const cutKey = "credential"

// keyEnds remembers when keys of the vault ended, for requests that were prepared when they still
// held. It has one number for each name that ever ended in a session.
type keyEnds struct {
	count uint64            // ends so far
	of    map[string]uint64 // the count at the newest end of an entry
}

// keysEnded returns how many keys have ended so far.
func (p *Proxy) keysEnded() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys.count
}

// EndKey cuts the requests with the key of an entry of the vault, which was removed or set anew,
// and refuses the requests that were prepared with it and have not begun. The vault must have been
// changed before.
func (p *Proxy) EndKey(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys.of == nil {
		p.keys.of = map[string]uint64{}
	}
	p.keys.count++
	p.keys.of[name] = p.keys.count
	for one := range p.open {
		if one.key == name {
			one.cut(cutKey)
		}
	}
}

// holdKey makes a passage end with the key of an entry; "" for none. before is keysEnded from
// before the key was read. Code unavailable: the key ended meanwhile.
func (p *Proxy) holdKey(one *passage, name string, before uint64) error {
	if name == "" {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys.of[name] > before {
		one.cut(cutKey)
		return errKeyEnded(name)
	}
	one.key = name
	return nil
}

// lostKey reports whether the passage was cut because its key ended.
func (o *passage) lostKey() bool {
	var cut cutError
	return errors.As(context.Cause(o.ctx), &cut) && cut == cutKey
}

// errKeyEnded tells a program why its request broke off.
func errKeyEnded(name string) error {
	return choir.Refuse("vault", choir.ReasonVaultKeyChanged, choir.TextOf("name", name))
}

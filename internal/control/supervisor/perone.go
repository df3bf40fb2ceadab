package supervisor

import (
	"maps"
	"slices"
	"sync"

	"choiros/internal/choir"
)

// perComputer makes and has one value for each computer. The zero value has none. Making one
// value holds up the callers of that computer alone.
type perComputer[T any] struct {
	mu sync.Mutex // guards of
	of map[choir.ID]func() T
}

// get returns the value of a computer, which make makes on the first call; others wait for that.
func (p *perComputer[T]) get(id choir.ID, make func() T) T {
	p.mu.Lock()
	value, ok := p.of[id]
	if !ok {
		value = sync.OnceValue(make)
		if p.of == nil {
			p.of = map[choir.ID]func() T{}
		}
		p.of[id] = value
	}
	p.mu.Unlock()
	return value()
}

// peek returns the value of a computer, or waits for it; the zero value if none was wanted.
func (p *perComputer[T]) peek(id choir.ID) (none T) {
	p.mu.Lock()
	value, ok := p.of[id]
	p.mu.Unlock()
	if !ok {
		return none
	}
	return value()
}

// drop removes the value of a computer and returns it as peek does.
func (p *perComputer[T]) drop(id choir.ID) (none T) {
	p.mu.Lock()
	value, ok := p.of[id]
	delete(p.of, id)
	p.mu.Unlock()
	if !ok {
		return none
	}
	return value()
}

// all returns the values, and waits for values that are being made.
func (p *perComputer[T]) all() (values []T) {
	p.mu.Lock()
	of := slices.Collect(maps.Values(p.of))
	p.mu.Unlock()
	for _, value := range of {
		values = append(values, value())
	}
	return values
}

// clear removes the values and returns them as all does.
func (p *perComputer[T]) clear() (values []T) {
	p.mu.Lock()
	of := p.of
	p.of = nil
	p.mu.Unlock()
	for _, value := range of {
		values = append(values, value())
	}
	return values
}

package host

import "sync"

// SetUp holds what a driver finds and prepares at its first use. A failure is not kept: a disk
// may be full for a while. It is safe for concurrent use.
type SetUp[M any] struct {
	prepare func() (*M, error)
	mu      sync.Mutex // guards machine, and is held while it is prepared
	machine *M
}

// NewSetUp returns a set-up that calls prepare when it is needed.
func NewSetUp[M any](prepare func() (*M, error)) *SetUp[M] { return &SetUp[M]{prepare: prepare} }

// Prepare returns the machine, and prepares it if no call before could.
func (s *SetUp[M]) Prepare() (*M, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.machine != nil {
		return s.machine, nil
	}
	m, err := s.prepare()
	if err == nil {
		s.machine = m
	}
	return m, err
}

// Prepared returns the machine; nil if there is none yet.
func (s *SetUp[M]) Prepared() *M {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machine
}

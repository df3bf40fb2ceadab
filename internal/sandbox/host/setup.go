package host

import (
	"sync/atomic"

	"golang.org/x/sync/singleflight"
)

// SetUp holds what a driver finds and prepares at its first use. A failure is not kept: a disk
// may be full for a while. It is safe for concurrent use.
type SetUp[M any] struct {
	prepare func() (M, error)
	machine atomic.Pointer[M]
	calls   singleflight.Group
}

// NewSetUp returns a set-up that calls prepare when it is needed.
func NewSetUp[M any](prepare func() (M, error)) *SetUp[M] { return &SetUp[M]{prepare: prepare} }

// Prepare returns the machine, and prepares it if no call before could. Calls at the same time
// share one preparation and its error.
func (s *SetUp[M]) Prepare() (M, error) {
	if m, ok := s.Prepared(); ok {
		return m, nil
	}
	_, err, _ := s.calls.Do("", func() (any, error) {
		if s.machine.Load() != nil {
			return nil, nil
		}
		m, err := s.prepare()
		if err == nil {
			s.machine.Store(&m)
		}
		return nil, err
	})
	m, _ := s.Prepared()
	return m, err
}

// Prepared returns the machine; false if there is none yet. It does not wait.
func (s *SetUp[M]) Prepared() (m M, ok bool) {
	if p := s.machine.Load(); p != nil {
		return *p, true
	}
	return m, false
}

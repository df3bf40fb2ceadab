package supervisor

import (
	"sync"

	"github.com/thejerf/suture/v4"

	"choiros/internal/choir"
	"choiros/internal/computer"
)

// services are the services of the open computers: each computer itself, and the one
// beside it.
type services struct {
	// beside is Config.Beside. It is set before use.
	beside func(*computer.Computer) suture.Service

	mu  sync.Mutex           // guards the fields below
	sup *suture.Supervisor   // nil until serve
	of  map[choir.ID]*served // of each computer that was started
}

// served is a computer and the tokens of its services, none until the supervisor runs.
type served struct {
	computer *computer.Computer
	tokens   []suture.ServiceToken
}

// start starts the services of a computer, at once or in serve.
func (s *services) start(c *computer.Computer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[choir.ID]*served{}
	}
	one := &served{computer: c}
	s.of[c.ID()] = one
	if s.sup != nil {
		s.supervise(one)
	}
}

// supervise adds the services of a computer to the supervisor. The caller holds mu.
func (s *services) supervise(one *served) {
	one.tokens = append(one.tokens, s.sup.Add(one.computer))
	if s.beside != nil {
		one.tokens = append(one.tokens, s.sup.Add(s.beside(one.computer)))
	}
}

// serve starts the services of every computer under sup, and from then on those of each
// computer that is started.
func (s *services) serve(sup *suture.Supervisor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sup = sup
	for _, one := range s.of {
		s.supervise(one)
	}
}

// stop ends the services of a computer and waits for that, for the computer's own first.
// An error means that the supervisor ends, which ends them too.
func (s *services) stop(id choir.ID) error {
	s.mu.Lock()
	one, sup := s.of[id], s.sup
	delete(s.of, id)
	s.mu.Unlock()
	if one == nil || sup == nil {
		return nil
	}
	for _, token := range one.tokens {
		if err := sup.RemoveAndWait(token, 0); err != nil {
			return choir.Wrap("computer.stop", choir.CodeUnavailable, err, "wait for computer %s to stop", id)
		}
	}
	return nil
}

package tasks

import (
	"context"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// scopes caches the started tasks, so that the changes of tool calls are attributed without
// reading the log. The zero value is empty.
type scopes struct {
	mu   sync.Mutex // guards open
	open map[choir.ID]eventstore.Task
}

// remember caches the tasks at work, in place of the former ones.
func (s *scopes) remember(tasks []eventstore.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = make(map[choir.ID]eventstore.Task, len(tasks))
	for _, t := range tasks {
		s.open[t.ID] = t
	}
}

// task returns a started task, from the cache or the log; the zero Task if the log has
// none.
func (s *scopes) task(ctx context.Context, log Log, id choir.ID) (eventstore.Task, error) {
	s.mu.Lock()
	t, ok := s.open[id]
	s.mu.Unlock()
	if ok {
		return t, nil
	}
	t, err := log.Task(ctx, id)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return eventstore.Task{}, nil
	}
	return t, err
}

package conductor

import "context"

// waitWhilePaused waits until the run is not paused, and meanwhile gives up its slot, so that
// other runs can work. It is called before what a paused run must not begin: a model call and
// a task. Everything else of the run is then as it was.
func (r *run) waitWhilePaused(ctx context.Context) error {
	if !r.rec.isPaused() {
		return nil
	}
	r.slot.leave()
	if err := r.rec.wait(ctx, func() bool { return !r.rec.paused }); err != nil {
		return err
	}
	return r.slot.acquire(ctx)
}

// isPaused reports whether the run is paused.
func (r *record) isPaused() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.paused
}

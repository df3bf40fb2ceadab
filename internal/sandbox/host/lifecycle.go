package host

import (
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
)

// goneTimeout is the limit on the wait for killed processes; the kernel needs
// milliseconds.
const goneTimeout = 10 * time.Second

// Calls counts the calls of a driver that are under way and the goroutines that watch its
// sandboxes. Make one with NewCalls.
type Calls struct {
	Makings // of the calls of Create
	driver  string
	ctx     context.Context // ends the watching, not the sandboxes
	cancel  context.CancelFunc
	mu      sync.Mutex // guards closed and adding to users
	closed  bool
	users   sync.WaitGroup
}

// NewCalls returns the calls of a driver, whose name begins the names of operations in
// errors.
func NewCalls(driver string) *Calls {
	c := &Calls{driver: driver}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// BeginCall registers a call, which the caller ends with EndCall if there is no error. Code
// unavailable: the driver is closed.
func (c *Calls) BeginCall() error { return c.add(func() { c.users.Add(1) }) }

// EndCall ends a call.
func (c *Calls) EndCall() { c.users.Done() }

// Watch runs watch in a goroutine, with a context that ends when the driver is closed.
// Code unavailable: it is closed already.
func (c *Calls) Watch(watch func(context.Context)) error {
	return c.add(func() { c.users.Go(func() { watch(c.ctx) }) })
}

func (c *Calls) add(add func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return choir.E(c.driver+".driver", choir.CodeUnavailable, "the driver is closed")
	}
	add()
	return nil
}

// Close stops the watching and waits until all calls and goroutines have ended. It returns
// whether this was the first call of it.
func (c *Calls) Close() (first bool) {
	c.mu.Lock()
	first = !c.closed
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.users.Wait()
	c.Makings.close()
	return first
}

// Remains are the parts of a sandbox on this machine, as its ending needs them.
type Remains interface {
	// Clear removes everything that the sandbox has outside of it, and releases. After an error it
	// is called again.
	Clear(context.Context) error
	// Release closes the control plane's files of the sandbox, which may live on.
	Release()
}

// Ending is the end of one sandbox: its driver watches for it, and destroy waits for it.
// Make one with NewEnding.
type Ending struct {
	driver string
	done   chan struct{}
	left   chan struct{} // closed when the sandbox is no longer watched, though it may live

	mu   sync.Mutex // guards err, and is held while the rest is removed once more
	err  error      // of the last removal of the rest
	rest Remains    // readable when done is closed
}

// NewEnding returns the ending of a sandbox of a driver.
func NewEnding(driver string) *Ending {
	return &Ending{driver: driver, done: make(chan struct{}), left: make(chan struct{})}
}

// Done is closed when the sandbox has ended and the removal of the rest was tried.
func (e *Ending) Done() <-chan struct{} { return e.done }

// CheckRunning returns code not_found once the sandbox has ended.
func (e *Ending) CheckRunning(op string) error {
	select {
	case <-e.done:
		return choir.E(op, choir.CodeNotFound, "the sandbox has ended")
	default:
		return nil
	}
}

// watch waits until the sandbox's main process has ended, and removes the rest of the
// sandbox. When ctx ends it releases the sandbox and leaves everything else as it is.
func (e *Ending) watch(ctx context.Context, main *Process, rest Remains) {
	if err := main.Wait(ctx); err != nil {
		rest.Release()
		close(e.left)
		return
	}
	e.rest, e.err = rest, clearIn(ctx, rest)
	close(e.done)
}

// destroy kills the sandbox's main process and waits until the watcher has removed the
// rest. It removes what the watcher could not.
func (e *Ending) destroy(ctx context.Context, main *Process) error {
	if err := main.Kill(); err != nil {
		return err
	}
	select {
	case <-e.done:
		return e.clearAgain(ctx)
	case <-e.left:
		return choir.E(e.driver+".destroy", choir.CodeUnavailable, "the driver was closed, so nobody saw the end of this sandbox").
			WithRemedy("recover it by its handle with another driver")
	case <-ctx.Done():
		return choir.Wrap(e.driver+".destroy", choir.CodeTimeout, ctx.Err(), "wait for the end of a sandbox")
	}
}

// clearAgain removes the rest of a sandbox that has ended, if every removal so far has failed: the
// container engine may have been stopped, say. It returns the error of the last one.
func (e *Ending) clearAgain(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil || ctx.Err() != nil {
		return e.err
	}
	ctx, cancel := context.WithTimeout(ctx, goneTimeout)
	defer cancel()
	e.err = e.rest.Clear(ctx)
	return e.err
}

// removeGone kills the main process of a sandbox that cannot be recovered, if it lives,
// removes the rest, and returns code not_found with the reason why.
func (e *Ending) removeGone(ctx context.Context, main *Process, rest Remains, why string) error {
	ctx, cancel := ContextOfRemoval(ctx)
	defer cancel()
	if err := main.Kill(); err != nil {
		return err
	}
	if main != nil {
		if err := main.Wait(ctx); err != nil {
			return choir.Wrap(e.driver+".recover", choir.CodeTimeout, err, "wait for the end of a sandbox")
		}
	}
	if err := rest.Clear(ctx); err != nil {
		return err
	}
	return choir.E(e.driver+".recover", choir.CodeNotFound, "%s", why)
}

// Abandon removes a sandbox that was not completed, also when ctx has ended. It returns no
// error, because the caller has the first one.
func Abandon(ctx context.Context, rest Remains) { clearIn(ctx, rest) }

func clearIn(ctx context.Context, rest Remains) error {
	ctx, cancel := ContextOfRemoval(ctx)
	defer cancel()
	return rest.Clear(ctx)
}

// ContextOfRemoval returns the context for the removal of a sandbox, which takes place also
// when ctx has ended, and is limited by a time of its own.
func ContextOfRemoval(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), goneTimeout)
}

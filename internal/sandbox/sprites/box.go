package sprites

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// box is one sandbox. Its parts are set before it is shared, and never after.
type box struct {
	api     *api
	parcels *parcels
	state   state // what its handle says

	// watched is the program that stays until the sandbox has ended; the watcher's once
	// that runs. nil when recovered.
	watched *program
	// removed says that the sprite was deleted by Destroy, wake wakes the watcher then.
	removed atomic.Bool
	wake    chan struct{}
	done    chan struct{}
	left    chan struct{} // closed when the sandbox is no longer watched, though it may live
	err     error         // of the removal, readable when done is closed
}

var _ sandbox.Sandbox = (*box)(nil)

func (d *Driver) newBox(s state) *box {
	return &box{
		api: d.api, parcels: &d.parcels, state: s,
		wake: make(chan struct{}, 1), done: make(chan struct{}), left: make(chan struct{}),
	}
}

// Handle implements sandbox.Sandbox.
func (b *box) Handle() sandbox.Handle { return encodeHandle(b.state) }

// Level implements sandbox.Sandbox.
func (b *box) Level() sandbox.Level { return levelOf(b.state.Kernel, b.state.Landlock) }

// Done implements sandbox.Sandbox.
func (b *box) Done() <-chan struct{} { return b.done }

// mustLive returns code not_found once the sandbox has ended.
func (b *box) mustLive(op string) error {
	select {
	case <-b.done:
		return choir.E(op, choir.CodeNotFound, "the sandbox has ended")
	default:
		return nil
	}
}

// Dial implements sandbox.Sandbox.
func (b *box) Dial(ctx context.Context) (net.Conn, error) {
	const op = "sprites.dial"
	err := b.mustLive(op)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, b.api.cfg.CallTimeout)
		defer cancel()
		var stream *program
		if stream, err = b.api.run(ctx, b.state.Sprite, leftBriefly, b.joinArgs()...); err == nil {
			return stream, nil
		}
	}
	if choir.CodeOf(err) == choir.CodeNotFound {
		return nil, choir.Wrap(op, choir.CodeUnavailable, err, "the sprite %s is gone", b.state.Sprite)
	}
	return nil, err
}

// mostUsage bounds the output of usage.sh.
const mostUsage = 256

// Usage counts the processes of the sandbox in the sprite. It implements sandbox.Sandbox.
func (b *box) Usage(ctx context.Context) (sandbox.Usage, error) {
	const op = "sprites.usage"
	if err := b.mustLive(op); err != nil {
		return sandbox.Usage{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, b.api.cfg.CallTimeout)
	defer cancel()
	out, err := b.api.ask(ctx, b.state.Sprite, mostUsage, b.script("usage.sh")...)
	if err != nil {
		return sandbox.Usage{}, err
	}
	var u sandbox.Usage
	var pages, ticks, page, perSecond int64
	if _, err := fmt.Sscan(out, &u.Processes, &pages, &ticks, &page, &perSecond); err != nil || u.Processes < 0 || min(pages, ticks) < 0 || min(page, perSecond) <= 0 {
		return sandbox.Usage{}, choir.E(op, choir.CodeUnavailable, "the sprite %s says nothing of what it uses", b.state.Sprite)
	}
	u.MemoryBytes, u.CPUMillis = pages*page, ticks*1000/perSecond
	return u, nil
}

// Destroy deletes the sprite and waits until the watcher knows. It implements
// sandbox.Sandbox.
func (b *box) Destroy(ctx context.Context) error {
	if err := b.mustLive("sprites.destroy"); err != nil && b.err == nil {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, b.api.cfg.CallTimeout)
	defer cancel()
	if err := b.api.remove(within, b.state.Sprite); err != nil {
		return err
	}
	b.removed.Store(true)
	select {
	case b.wake <- struct{}{}:
	default: // it is woken already
	}
	select {
	case <-b.done:
		return nil
	case <-b.left:
		return choir.E("sprites.destroy", choir.CodeUnavailable, "the driver was closed, so nobody saw the end of this sandbox").
			WithRemedy("recover it by its handle with another driver")
	case <-ctx.Done():
		return choir.Wrap("sprites.destroy", choir.CodeTimeout, ctx.Err(), "wait for the end of a sandbox")
	}
}

// firstPause and longestPause are the pauses between two attempts to reach a sprite.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 30 * time.Second
)

// watch waits until the sandbox has ended, and deletes the sprite. When ctx ends it leaves
// everything as it is. A connection that is cut is made again.
func (b *box) watch(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	waking := make(chan struct{})
	go func() { // ends with this function
		defer close(waking)
		select {
		case <-b.wake:
			cancel()
		case <-ctx.Done():
		}
	}()
	ended := b.awaitEnd(ctx)
	if b.removed.Load() {
		ended = true
	}
	cancel()
	<-waking
	if b.watched != nil {
		b.watched.Close()
	}
	if !ended {
		close(b.left)
		return
	}
	if !b.removed.Load() {
		b.err = b.abandon(context.WithoutCancel(ctx))
	}
	close(b.done)
}

// awaitEnd reports whether the sandbox has ended; it has not if ctx ended before. A program that
// could not wait for that, as for lack of memory, is run again, like one whose connection was cut.
func (b *box) awaitEnd(ctx context.Context) bool {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		if b.watched != nil {
			began := time.Now()
			if waitFor(ctx, b.watched) && b.endIsCertain(ctx) {
				return true
			}
			b.watched.Close()
			b.watched = nil
			if time.Since(began) > longestPause {
				pause = firstPause
			}
		}
		select { // also after a cut: the next connection may be cut as soon, the next program fail
		case <-ctx.Done():
			return false
		case <-time.After(pause):
		}
		var err error
		if b.watched, err = b.watchAgain(ctx); choir.CodeOf(err) == choir.CodeNotFound {
			return true
		}
	}
}

// endIsCertain reports whether the sandbox has ended, once watched has: its code 0 says so. With any
// other code the sandbox may live, and its sprite, which has the only copy of its workspace, is asked.
func (b *box) endIsCertain(ctx context.Context) bool {
	if code, _ := b.watched.exit(); code == 0 {
		return true
	}
	ended, err := b.hasEnded(ctx)
	return err == nil && ended
}

// watchAgain runs the program that stays until the sandbox has ended. Code not_found: there
// is no such sprite any more.
func (b *box) watchAgain(ctx context.Context) (*program, error) {
	ctx, cancel := context.WithTimeout(ctx, b.api.cfg.CallTimeout)
	defer cancel()
	return b.api.run(ctx, b.state.Sprite, leftBriefly, b.script("watch.sh")...)
}

// waitFor reports whether a program has ended; it has not when ctx ends, or the connection
// is cut.
func waitFor(ctx context.Context, p *program) bool {
	stop := context.AfterFunc(ctx, func() { p.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	io.Copy(io.Discard, p) // how it ends is asked below
	code, _ := p.exit()
	return code >= 0
}

// removalTries bounds the attempts to delete the sprite of a sandbox that has ended. The next
// driver deletes what is left, see Driver.sweep.
const removalTries = 3

// removalTimeout is the limit on one of them.
const removalTimeout = 5 * time.Second

// abandon deletes the sprite of a sandbox that has ended or was not completed, also when
// ctx has ended.
func (b *box) abandon(ctx context.Context) error {
	var errs []error
	for try, pause := 0, firstPause; try < removalTries; try, pause = try+1, 2*pause {
		once, cancel := context.WithTimeout(context.WithoutCancel(ctx), removalTimeout)
		err := b.api.remove(once, b.state.Sprite)
		cancel()
		if err == nil {
			return nil
		}
		if errs = append(errs, err); len(errs) < removalTries {
			time.Sleep(pause)
		}
	}
	return errors.Join(errs...)
}

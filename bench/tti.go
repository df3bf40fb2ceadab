package bench

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/pool"
)

// firstCommand is the command that a sandbox and its peer run; its output must come.
var firstCommand = []string{"/bin/echo", "choir"}

const barePeer = "bare bwrap --unshare-all running the same command"

// benchTTI measures the time from asking for a sandbox to its first command's
// output: the computesdk protocol (sequential, staggered, burst), and a sandbox
// that is up already.
func benchTTI(ctx context.Context, l *lab, emit func(Row)) error {
	if err := benchLocalTTI(ctx, l, emit); err != nil {
		return err
	}
	return l.benchRungs(ctx, l.benchRungTTI, emit)
}

func benchLocalTTI(ctx context.Context, l *lab, emit func(Row)) error {
	if why := l.cannotIsolate(ctx); why != "" {
		for _, name := range []string{"sequential", "staggered", "burst", "warm claim", "claimed"} {
			emit(Row{Case: name, Unit: "ms", Peer: barePeer, Skipped: why})
		}
		return nil
	}
	r := Row{Unit: "ms", Peer: barePeer, Isolated: true}
	r.Case = "sequential"
	row, err := turns{n: l.count(100), warmup: l.count(5), ours: l.coldStart, peer: bareStart}.measure(ctx, r)
	if err != nil {
		return err
	}
	emit(row)
	r.Case = "staggered"
	if row, err = l.together(ctx, r, bareStart, l.count(100), 200*time.Millisecond); err != nil {
		return err
	}
	emit(row)
	r.Case = "burst"
	if row, err = l.together(ctx, r, bareStart, burstSize(l), 0); err != nil {
		return err
	}
	emit(row)
	r.Case = "warm claim"
	if row, err = (turns{n: l.count(100), warmup: l.count(5), ours: l.warmClaim, peer: bareStart}).measure(ctx, r); err != nil {
		return err
	}
	emit(row)
	if row, err = l.claimed(ctx, Row{Case: "claimed", Unit: "ms", Peer: "the start of a sandbox, until it answers", Isolated: true}); err != nil {
		return err
	}
	emit(row)
	return nil
}

// claimed measures the time until a sandbox that was started beforehand is its computer's, beside
// the time that it takes to start one.
func (l *lab) claimed(ctx context.Context, r Row) (Row, error) {
	spec, err := l.spec()
	if err != nil {
		return r, err
	}
	p := pool.New(l.driver, pool.Config{Dir: filepath.Join(l.dir, "ready"), Most: 1, Log: slog.New(slog.DiscardHandler)})
	serving, stop := context.WithCancel(ctx)
	var served sync.WaitGroup
	served.Go(func() { _ = p.Serve(serving) }) // it ends with the context
	defer served.Wait()
	defer stop()
	claim := func(ctx context.Context) (float64, error) {
		p.Prepare([]sandbox.Spec{spec})
		for p.Counts().Ready == 0 {
			if err := sleep(ctx, time.Millisecond); err != nil {
				return 0, err
			}
		}
		began := time.Now()
		b, err := p.Claim(ctx, spec)
		ms := millis(time.Since(began))
		if err == nil && b == nil {
			err = choir.E("bench.tti", choir.CodeInternal, "a sandbox was ready and could not be claimed")
		}
		if err != nil {
			return 0, err
		}
		made := &box{b, guest.NewClient(b.Dial)}
		return ms, errors.Join(made.first(ctx), made.end(ctx))
	}
	return turns{n: l.count(100), warmup: l.count(5), ours: claim, peer: l.startAlone}.measure(ctx, r)
}

// startAlone starts a sandbox, and runs nothing in it.
func (l *lab) startAlone(ctx context.Context) (float64, error) {
	spec, err := l.spec()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	b, err := l.create(ctx, spec)
	if err != nil {
		return 0, err
	}
	return millis(time.Since(began)), b.end(ctx)
}

func burstSize(l *lab) int {
	if l.quick {
		return 10
	}
	return 100
}

// coldStart creates a sandbox with everything a sandbox has and runs the command.
func (l *lab) coldStart(ctx context.Context) (float64, error) {
	spec, err := l.spec()
	if err != nil {
		return 0, err
	}
	return l.startWith(ctx, spec)
}

func (l *lab) startWith(ctx context.Context, spec sandbox.Spec) (ms float64, err error) {
	began := time.Now()
	b, err := l.create(ctx, spec)
	if err != nil {
		return 0, err
	}
	err = b.first(ctx)
	ms = millis(time.Since(began))
	return ms, errors.Join(err, b.end(ctx))
}

// warmClaim runs the first command of a sandbox that is up.
func (l *lab) warmClaim(ctx context.Context) (ms float64, err error) {
	spec, err := l.spec()
	if err != nil {
		return 0, err
	}
	b, err := l.create(ctx, spec)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	err = b.first(ctx)
	ms = millis(time.Since(began))
	return ms, errors.Join(err, b.end(ctx))
}

func (b *box) first(ctx context.Context) error {
	out, err := b.client.Run(ctx, guest.ExecSpec{Argv: firstCommand}, nil, 1<<10)
	if err == nil && (out.Exit.Code != 0 || string(out.Stdout) != "choir\n") {
		err = choir.E("bench.tti", choir.CodeInternal, "the command ended with code %d and said %q", out.Exit.Code, out.Stdout)
	}
	return err
}

// bareArgs is the least that bubblewrap needs to isolate a command.
var bareArgs = strings.Fields("bwrap --unshare-all --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc --dev /dev --")

func bareStart(ctx context.Context) (float64, error) {
	argv := append(bareArgs[:len(bareArgs):len(bareArgs)], firstCommand...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	began := time.Now()
	out, err := cmd.Output()
	took := time.Since(began)
	if err == nil && string(out) != "choir\n" {
		err = choir.E("bench.tti", choir.CodeInternal, "bare bwrap said %q", out)
	}
	return millis(took), err
}

// together starts n of ours and of the peer, each of ours every so often and the
// peer's in between; at once, ours before the peer's, when every is 0.
func (l *lab) together(ctx context.Context, r Row, bare sample, n int, every time.Duration) (Row, error) {
	specs := make([]sandbox.Spec, n)
	for i := range specs {
		var err error
		if specs[i], err = l.spec(); err != nil {
			return r, err
		}
	}
	ours := func(ctx context.Context, i int) (float64, error) { return l.startWith(ctx, specs[i]) }
	peer := func(ctx context.Context, _ int) (float64, error) { return bare(ctx) }
	var a, b many
	if every > 0 {
		var both sync.WaitGroup
		both.Go(func() { a = startMany(ctx, n, 0, every, ours) })
		both.Go(func() { b = startMany(ctx, n, every/2, every, peer) })
		both.Wait()
	} else {
		a = startMany(ctx, n, 0, 0, ours)
		b = startMany(ctx, n, 0, 0, peer)
	}
	if err := ctx.Err(); err != nil {
		return r, err
	}
	if r.Failures = len(a.failed); r.Failures > 0 {
		r.Failed = a.failed[r.Failures-1].Error()
	}
	if len(a.took) == 0 {
		return r, a.failed[0]
	}
	if len(b.failed) > 0 {
		r.Skipped, b.took = "the peer failed: "+b.failed[0].Error(), nil
	}
	r.numbers(a.took, b.took, false)
	return r, nil
}

// many holds the times and errors of starts that overlap.
type many struct {
	took   samples
	failed []error
}

// startMany starts n times and waits for all.
func startMany(ctx context.Context, n int, offset, every time.Duration, start func(context.Context, int) (float64, error)) many {
	var m many
	var mu sync.Mutex // guards m
	var wg sync.WaitGroup
	began := time.Now()
	for i := range n {
		if sleep(ctx, time.Until(began.Add(offset+time.Duration(i)*every))) != nil {
			break
		}
		wg.Go(func() {
			ms, err := start(ctx, i)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				m.failed = append(m.failed, err)
			} else {
				m.took = append(m.took, ms)
			}
		})
	}
	wg.Wait()
	return m
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

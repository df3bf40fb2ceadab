package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// perTransaction is how many events the peer of replay puts into one.
const perTransaction = 1000

// benchReplay measures making all projections anew from logs of two sizes, the
// check of the hash chain included.
func benchReplay(ctx context.Context, l *lab, emit func(Row)) error {
	small := replayed{l: l, events: 1_500, n: 30, warmup: 3}
	first, err := small.measure(ctx)
	if err != nil {
		return err
	}
	emit(first)
	if l.quick {
		for _, name := range []string{"1,000,000 events", "linear"} {
			emit(Row{Case: name, Unit: "ms", Skipped: "left out of a quick run"})
		}
		return nil
	}
	large := replayed{l: l, events: 1_000_000, n: 3, warmup: 0}
	second, err := large.measure(ctx)
	if err != nil {
		return err
	}
	emit(second)
	emit(linear(first, small.events, second, large.events))
	return nil
}

// linear puts the time per event of a large log beside that of a small one.
func linear(small Row, few int, large Row, many int) Row {
	per := 1000 / float64(many)
	r := Row{
		Case: "linear", Unit: "us/event", N: large.N, Warmup: large.Warmup,
		Median: large.Median * per, P95: large.P95 * per, P99: large.P99 * per,
		Failures: large.Failures, Failed: large.Failed, Peer: "per event of " + small.Case, Durable: large.Durable,
	}
	median := small.Median * 1000 / float64(few)
	ratio := r.Median / median
	r.PeerMedian, r.Ratio = &median, &ratio
	return r
}

// replayed is a log to be replayed.
type replayed struct {
	l                 *lab
	events, n, warmup int
	peers             int // files of the peer that were made
}

func (r *replayed) measure(ctx context.Context) (row Row, err error) {
	dir, err := r.l.folder()
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	opened, err := openStore(ctx, filepath.Join(dir, "store"))
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, opened.close()) }()
	store := opened.(storeLog).Store
	if err := fill(ctx, store, r.events); err != nil {
		return row, err
	}
	row = Row{
		Case: thousands(r.events) + " events", Unit: "ms", Durable: r.l.onDisk(),
		Peer: "the same events into SQLite, " + strconv.Itoa(perTransaction) + " in a transaction",
	}
	return turns{
		n: r.l.count(r.n), warmup: r.l.count(r.warmup),
		ours: func(ctx context.Context) (float64, error) {
			began := time.Now()
			err := store.Rebuild(ctx)
			return millis(time.Since(began)), err
		},
		peer: func(ctx context.Context) (float64, error) { return r.peer(ctx, dir) },
	}.measure(ctx, row)
}

// peer writes the events into a new file; only the transactions are timed.
func (r *replayed) peer(ctx context.Context, dir string) (ms float64, err error) {
	r.peers++
	path := filepath.Join(dir, "peer"+strconv.Itoa(r.peers))
	p, err := eventstore.OpenPlain(path, storeConfig(), true)
	if err != nil {
		return 0, err
	}
	defer func() {
		err = errors.Join(err, p.Close())
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if rm := os.Remove(path + suffix); !errors.Is(rm, os.ErrNotExist) {
				err = errors.Join(err, rm)
			}
		}
	}()
	for from := 0; from < r.events; from += perTransaction {
		load, err := events(from, min(perTransaction, r.events-from))
		if err != nil {
			return 0, err
		}
		began := time.Now()
		if err := p.Append(ctx, load...); err != nil {
			return 0, err
		}
		ms += millis(time.Since(began))
	}
	return ms, nil
}

// fill appends the first n events. Writers take a run each, in its order.
func fill(ctx context.Context, s *eventstore.Store, n int) error {
	const writers = 64
	part := runSize()
	chunk := writers * part
	for from := 0; from < n; from += chunk {
		load, err := events(from, min(chunk, n-from))
		if err != nil {
			return err
		}
		errs := make([]error, writers)
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				errs[w] = appendAll(ctx, s, load[min(w*part, len(load)):min((w+1)*part, len(load))])
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	_, err := s.OpenRuns(ctx) // waits for the projections
	return err
}

// appendAll appends what one role says in a row as one batch.
func appendAll(ctx context.Context, s *eventstore.Store, load []work) error {
	for len(load) > 0 {
		n := 0
		var drafts []choir.Draft
		for n < len(load) && load[n].Role == load[0].Role {
			drafts = append(drafts, load[n].Draft)
			n++
		}
		if _, err := s.Append(ctx, load[0].Role, drafts...); err != nil {
			return err
		}
		load = load[n:]
	}
	return nil
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

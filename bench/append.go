package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/journal"
)

// log takes one event and returns when it is durable.
type log interface {
	append(ctx context.Context, w work) error
	// awaitProjections waits until the projections of an appended event, and of all
	// before it, are written.
	awaitProjections(ctx context.Context, last choir.ID) error
	close() error
}

// How many rounds of writers there are, how many events a writer appends in one,
// and how many single appends are measured.
const (
	appendRounds = 30
	eventsEach   = 40
	singleEvents = 1000
)

// benchAppend measures durable appends with one, 16 and 64 writers, beside one
// SQLite transaction per event and, for one writer, beside bare fdatasync.
func benchAppend(ctx context.Context, l *lab, emit func(Row)) error {
	dir, err := l.folder()
	if err != nil {
		return err
	}
	for _, projections := range []bool{true, false} {
		if err := l.appendCases(ctx, filepath.Join(dir, strconv.FormatBool(projections)), projections, emit); err != nil {
			return err
		}
	}
	return nil
}

// appendCases measures with or without projections, ours and the peer alike.
func (l *lab) appendCases(ctx context.Context, dir string, projections bool, emit func(Row)) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return choir.Wrap("bench", choir.CodeUnavailable, err, "make a folder")
	}
	var ours log
	if projections {
		ours, err = openStore(ctx, filepath.Join(dir, "store"))
	} else {
		ours, err = openJournal(filepath.Join(dir, "journal"))
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.close()) }()
	peer, err := openPlain(filepath.Join(dir, "peer.sqlite"), projections)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, peer.close()) }()

	suffix := ""
	if !projections {
		suffix = ", journal only"
	}
	row, err := l.oneWriter(ctx, "1 writer"+suffix, ours, filepath.Join(dir, "bare"))
	if err != nil {
		return err
	}
	emit(row)
	for _, writers := range []int{1, 16, 64} {
		name := strconv.Itoa(writers) + " writers"
		if writers == 1 {
			name = "1 writer, rate"
		}
		r := rounds{l: l, name: name + suffix, writers: writers, ours: ours, peer: peer}
		if err := r.measure(ctx, emit); err != nil {
			return err
		}
	}
	return nil
}

// oneWriter measures single appends beside a write and fdatasync of as many
// bytes.
func (l *lab) oneWriter(ctx context.Context, name string, ours log, path string) (Row, error) {
	bare, err := os.Create(path)
	if err != nil {
		return Row{}, choir.Wrap("bench", choir.CodeUnavailable, err, "make a file")
	}
	defer bare.Close()
	n, warmup := l.count(singleEvents), l.count(50)
	load, err := nextEvents(n + warmup)
	if err != nil {
		return Row{}, err
	}
	next, end := 0, int64(0)
	return turns{
		n: n, warmup: warmup,
		ours: func(ctx context.Context) (float64, error) {
			w := load[next]
			next++
			began := time.Now()
			err := ours.append(ctx, w)
			return micros(time.Since(began)), err
		},
		peer: func(context.Context) (float64, error) {
			record, err := recordOf(load[max(0, next-1)])
			if err != nil {
				return 0, err
			}
			began := time.Now()
			if _, err = bare.WriteAt(record, end); err == nil {
				err = unix.Fdatasync(int(bare.Fd()))
			}
			took := time.Since(began)
			end += int64(len(record))
			return micros(took), err
		},
	}.measure(ctx, Row{Case: name, Unit: "us", Peer: "bare write and fdatasync of the same bytes", Durable: l.onDisk()})
}

// recordOf is about what the journal writes for an event.
func recordOf(w work) ([]byte, error) {
	e := eventOf(w, 1_000_000)
	raw, err := choir.SealEvent(&e, choir.ZeroHash)
	const header, hash = 28, 32 // docs/FORMAT.md
	return append(raw, make([]byte, header+hash)...), err
}

// rounds are many writers at once: a round is one sample of the rate, and every
// append one of the latency.
type rounds struct {
	l          *lab
	name       string
	writers    int
	ours, peer log
}

// each is how many events a writer appends in a round.
func (r rounds) each() int {
	if r.l.quick {
		return 4
	}
	return eventsEach
}

const transactionPeer = "one SQLite transaction per event (synchronous=FULL)"

func (r rounds) measure(ctx context.Context, emit func(Row)) error {
	t := turns{n: r.l.count(appendRounds), warmup: r.l.count(2), rate: true}
	var ourWaits, peerWaits samples
	t.ours = func(ctx context.Context) (float64, error) { return r.round(ctx, r.ours, &ourWaits) }
	t.peer = func(ctx context.Context) (float64, error) { return r.round(ctx, r.peer, &peerWaits) }
	row, err := t.measure(ctx, Row{Case: r.name, Unit: "events/s", Peer: transactionPeer, Durable: r.l.onDisk()})
	if err != nil {
		return err
	}
	emit(row)
	waits := Row{Case: r.name + ", latency", Unit: "ms", Peer: transactionPeer, Durable: row.Durable, Warmup: t.warmup * r.writers * r.each()}
	waits.numbers(ourWaits[waits.Warmup:], peerWaits[waits.Warmup:], false)
	emit(waits)
	return nil
}

// round lets all writers append at once and gives events per second, until all
// that follows from them is written too.
func (r rounds) round(ctx context.Context, to log, waits *samples) (float64, error) {
	load := make([]work, 0, r.writers*r.each())
	for range r.writers {
		part, err := nextEvents(r.each())
		if err != nil {
			return 0, err
		}
		load = append(load, part...)
	}
	took := make(samples, len(load))
	errs := make([]error, r.writers)
	var wg sync.WaitGroup
	began := time.Now()
	for w := range r.writers {
		wg.Go(func() {
			for i := w * r.each(); i < (w+1)*r.each() && errs[w] == nil; i++ {
				start := time.Now()
				errs[w] = to.append(ctx, load[i])
				took[i] = millis(time.Since(start))
			}
		})
	}
	wg.Wait()
	err := errors.Join(append(errs, to.awaitProjections(ctx, load[len(load)-1].Draft.ID))...)
	rate := float64(len(load)) / time.Since(began).Seconds()
	*waits = append(*waits, took...)
	return rate, err
}

// taken numbers the events of this process, so that none is appended twice.
var taken atomic.Int64

// nextEvents are n events for one writer, from the first of a run on, because what
// answers another event is appended after it.
func nextEvents(n int) ([]work, error) {
	size := runSize()
	whole := (n + size - 1) / size * size
	return events(int(taken.Add(int64(whole)))-whole, n)
}

// ticking is a clock that never stands still.
func ticking() func() choir.Time {
	var ticks atomic.Int64
	return func() choir.Time { return benchTime + choir.Time(ticks.Add(1)) }
}

func storeConfig() eventstore.Config {
	return eventstore.Config{Computer: benchComputer, User: benchUser, Now: ticking()}
}

func eventOf(w work, seq uint64) choir.Event {
	d := w.Draft
	return choir.Event{
		Seq: seq, ID: d.ID, Time: benchTime, Computer: benchComputer, User: benchUser, Source: w.Role.Source(),
		Type: d.Type, Run: d.Run, Task: d.Task, Payload: d.Payload,
	}
}

// storeLog is the log as computers have it.
type storeLog struct{ *eventstore.Store }

func openStore(ctx context.Context, dir string) (log, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, choir.Wrap("bench", choir.CodeUnavailable, err, "make a folder")
	}
	s, err := eventstore.Open(ctx, dir, storeConfig())
	return storeLog{s}, err
}

func (s storeLog) append(ctx context.Context, w work) error {
	_, err := s.Append(ctx, w.Role, w.Draft)
	return err
}

// awaitProjections reads the event: a read waits for the projections of every event
// that was durable before it.
func (s storeLog) awaitProjections(ctx context.Context, last choir.ID) error {
	_, err := s.Event(ctx, last)
	return err
}

func (s storeLog) close() error { return s.Close() }

// journalLog is the journal alone.
type journalLog struct{ *journal.Journal }

func openJournal(dir string) (log, error) {
	j, err := journal.Open(dir, journal.Config{})
	return journalLog{j}, err
}

func (j journalLog) append(_ context.Context, w work) error {
	return j.Append(func(next uint64, prev choir.Digest) ([]journal.Record, error) {
		e := eventOf(w, next)
		raw, err := choir.SealEvent(&e, prev)
		return []journal.Record{{Seq: next, Event: raw, Hash: e.Hash}}, err
	})
}

func (journalLog) awaitProjections(context.Context, choir.ID) error { return nil }

func (j journalLog) close() error { return j.Close() }

// plainLog is one transaction per event; its writers queue for the database.
type plainLog struct {
	mu    *sync.Mutex // guards plain
	plain *eventstore.Plain
}

func openPlain(path string, projections bool) (log, error) {
	p, err := eventstore.OpenPlain(path, storeConfig(), projections)
	return plainLog{new(sync.Mutex), p}, err
}

func (p plainLog) append(ctx context.Context, w work) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plain.Append(ctx, w)
}

func (plainLog) awaitProjections(context.Context, choir.ID) error { return nil }

func (p plainLog) close() error { return p.plain.Close() }

package bench

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/terminals"
	"choiros/internal/control/api"
)

// The flood of requests for computers for which there is no room.
const (
	floodAskers = 100                    // requests at once, at most
	floodPause  = 100 * time.Millisecond // of an asker between two requests
	floodLeaves = 2 * time.Second        // a computer that answered is not asked for so long, and hibernates
	floodBegins = 300 * time.Millisecond // before something is measured in it
)

// fullHouse are settings by which two of four computers may be awake.
const fullHouse = "hibernate_after = '1s'\nfreeze_after = '0'\nawake_at_most = 2\nready = 0"

// benchCapacity measures an awake computer of a choir while a flood of requests asks for the
// others: one of them wakes for the last room there is, a moment before the measurement, and all
// requests for the rest are refused. The same computer without the flood is next to it.
func benchCapacity(ctx context.Context, l *lab, emit func(Row)) error {
	rows := []Row{{Case: "a request in a flood for others"}, {Case: "a terminal in a flood for others"}}
	for i := range rows {
		rows[i].Unit, rows[i].Peer, rows[i].Isolated = "ms", "the same without the flood", true
	}
	if why := l.cannotIsolate(ctx); why != "" {
		emitSkipped(rows, why, emit)
		return nil
	}
	s, awake, err := l.serveOne(ctx, "", fullHouse)
	if err != nil {
		return err
	}
	defer s.close()
	others, err := s.fillHouse(ctx, awake)
	if err != nil {
		return err
	}
	slept := func(c api.ComputerView) bool { return c.ID == awake || c.Hibernated }
	for i, alone := range []sample{
		func(ctx context.Context) (float64, error) {
			began := time.Now()
			err := s.wake(ctx, awake)
			return millis(time.Since(began)), err
		},
		func(ctx context.Context) (float64, error) { return s.openTerminal(ctx, awake) },
	} {
		flooded := func(ctx context.Context) (ms float64, err error) {
			err = s.inFlood(ctx, others, func() error {
				ms, err = alone(ctx)
				return err
			})
			return ms, err
		}
		calm := func(ctx context.Context) (float64, error) {
			if _, err := s.await(ctx, "hibernated", slept); err != nil {
				return 0, err
			}
			return alone(ctx)
		}
		row, err := (turns{n: l.count(40), warmup: 1, ours: flooded, peer: calm}).measure(ctx, rows[i])
		if err != nil {
			return err
		}
		emit(row)
	}
	return nil
}

// fillHouse makes three forks of a computer, which a program in the foreground of a terminal keeps
// awake, and returns their ids.
func (s *served) fillHouse(ctx context.Context, awake choir.ID) ([]choir.ID, error) {
	var t terminals.Info
	if err := s.ask(ctx, http.MethodPost, "/api/computers/"+string(awake)+"/terminals", api.TerminalRequest{Type: "cat\n"}, &t); err != nil {
		return nil, err
	}
	var others []choir.ID
	for n := 2; n <= 4; n++ { // one after the other: there is room for one of them
		if err := s.fork(ctx, n); err != nil {
			return nil, err
		}
		list, err := s.await(ctx, "hibernated", func(c api.ComputerView) bool { return c.ID == awake || c.Hibernated })
		if err != nil {
			return nil, err
		}
		others = others[:0]
		for _, c := range list {
			if c.ID != awake {
				others = append(others, c.ID)
			}
		}
	}
	return others, nil
}

// inFlood measures while many ask for other computers. It returns an error if none of them was
// refused for want of room, or one got another answer than such a refusal or the computer.
func (s *served) inFlood(ctx context.Context, others []choir.ID, measure func() error) error {
	flooding, stop := context.WithCancel(ctx)
	f := &flood{served: s, others: others, left: map[choir.ID]time.Time{}}
	var askers sync.WaitGroup
	for i := range floodAskers {
		askers.Go(func() { f.ask(flooding, i) })
	}
	err := pauseFor(ctx, floodBegins)
	if err == nil {
		err = measure()
	}
	stop()
	askers.Wait()
	if err == nil && f.refused == 0 {
		f.wrong = cmp.Or(f.wrong, error(choir.E("bench.capacity", choir.CodeUnavailable, "no request of the flood was refused")))
	}
	return errors.Join(err, f.wrong)
}

// flood counts the answers to requests for computers for which there may be no room.
type flood struct {
	*served
	others []choir.ID

	mu      sync.Mutex // guards all below
	left    map[choir.ID]time.Time
	refused int
	wrong   error // the first answer that was neither a computer nor a refusal with a time to wait
}

// ask asks for one of the others after the other until ctx ends, from the i-th on.
func (f *flood) ask(ctx context.Context, i int) {
	for first := true; ; i, first = i+1, false {
		pause := floodPause
		if first { // so that not all ask at the same moments
			pause = floodPause * time.Duration(i) / floodAskers
		}
		if pauseFor(ctx, pause) != nil {
			return
		}
		id := f.others[i%len(f.others)]
		if f.isLeft(id) {
			continue
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://choir/api/computers/"+string(id)+"/desktop", nil)
		if err != nil {
			return // the address is a constant and an id
		}
		resp, err := f.client.Do(req)
		if ctx.Err() == nil {
			f.note(id, resp, err)
		}
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body) // its status is all that counts
			resp.Body.Close()
		}
	}
}

// isLeft reports whether a computer answered a moment ago, and is left to hibernate.
func (f *flood) isLeft(id choir.ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Since(f.left[id]) < floodLeaves
}

// note counts the answer to a request for a computer.
func (f *flood) note(id choir.ID, resp *http.Response, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err != nil:
		f.wrong = cmp.Or(f.wrong, choir.Wrap("bench.capacity", choir.CodeUnavailable, err, "ask for a computer"))
	case resp.StatusCode == http.StatusOK:
		f.left[id] = time.Now()
	case resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
		f.refused++
	default:
		f.wrong = cmp.Or(f.wrong, error(choir.E("bench.capacity", choir.CodeUnavailable, "a computer for which there is no room answers %s", resp.Status)))
	}
}

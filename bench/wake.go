package bench

import (
	"context"
	"net/http"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/terminals"
	"choiros/internal/control/api"
)

// benchWake measures the time until a computer answers a request, idle and hibernated, and
// until a hibernated one has a terminal in its sandbox. The start of a bare sandbox is
// beside it. The other rungs follow.
func benchWake(ctx context.Context, l *lab, emit func(Row)) error {
	if err := l.benchLocalWake(ctx, emit); err != nil {
		return err
	}
	return l.benchRungs(ctx, l.benchRungWake, emit)
}

func (l *lab) benchLocalWake(ctx context.Context, emit func(Row)) error {
	idle := Row{Case: "idle", Unit: "ms", Peer: "the health of the same choir", Isolated: true}
	hibernated := Row{Case: "hibernated", Unit: "ms", Peer: barePeer, Isolated: true}
	sandbox := Row{Case: "hibernated, until a terminal is open", Unit: "ms", Peer: barePeer, Isolated: true}
	frozen := Row{Case: "frozen", Unit: "ms", Peer: sameNotFrozen, Isolated: true}
	claimed := Row{Case: "hibernated, its sandboxes ready, until a terminal is open", Unit: "ms", Peer: "the same without ready sandboxes", Isolated: true}
	if why := l.cannotIsolate(ctx); why != "" {
		emitSkipped([]Row{idle, hibernated, sandbox, claimed, frozen}, why, emit)
		return nil
	}
	data, err := l.folder()
	if err != nil {
		return err
	}
	s, err := serveChoir(ctx, data, "", hibernatesSoon)
	if err != nil {
		return err
	}
	defer s.close()
	list, err := s.computers(ctx)
	if err != nil {
		return err
	}
	timed := func(do func() error) (float64, error) {
		began := time.Now()
		err := do()
		return millis(time.Since(began)), err
	}
	woken := func(ctx context.Context) (float64, error) {
		return timed(func() error { return s.wake(ctx, list[0].ID) })
	}
	healthy := func(ctx context.Context) (float64, error) {
		return timed(func() error { return s.ask(ctx, http.MethodGet, "/api/health", nil, nil) })
	}
	if idle, err = (turns{n: l.count(200), warmup: 5, ours: woken, peer: healthy}).measure(ctx, idle); err != nil {
		return err
	}
	emit(idle)
	asleep := func(ask func(context.Context) (float64, error)) sample {
		return func(ctx context.Context) (float64, error) {
			if _, err := s.await(ctx, "hibernated", hibernates); err != nil {
				return 0, err
			}
			return ask(ctx)
		}
	}
	if hibernated, err = (turns{n: l.count(20), warmup: 1, ours: asleep(woken), peer: bareStart}).measure(ctx, hibernated); err != nil {
		return err
	}
	emit(hibernated)
	opened := func(ctx context.Context) (float64, error) { return s.openTerminal(ctx, list[0].ID) }
	if sandbox, err = (turns{n: l.count(20), warmup: 1, ours: asleep(opened), peer: bareStart}).measure(ctx, sandbox); err != nil {
		return err
	}
	emit(sandbox)
	if err := l.wakeClaimed(ctx, claimed, asleep(opened), emit); err != nil {
		return err
	}
	return l.wakeFrozen(ctx, "", l.count(20), frozen, emit)
}

// Settings of computers, in TOML, and the peer of frozen ones.
const (
	hibernatesSoon = "hibernate_after = '1s'\nready = 0"
	staysAwake     = "hibernate_after = '0'\nfreeze_after = '0'"
	sameNotFrozen  = "the same computer, not frozen"
)

// serveOne starts a choir as serveChoir does, and returns it and its only computer.
func (l *lab) serveOne(ctx context.Context, top, computers string) (*served, choir.ID, error) {
	data, err := l.folder()
	if err != nil {
		return nil, "", err
	}
	s, err := serveChoir(ctx, data, top, computers)
	if err != nil {
		return nil, "", err
	}
	list, err := s.computers(ctx)
	if err != nil {
		s.close()
		return nil, "", err
	}
	return s, list[0].ID, nil
}

// wakeFrozen measures n times the time until a frozen computer answers a request, and that of the next
// one. top chooses its rung.
func (l *lab) wakeFrozen(ctx context.Context, top string, n int, row Row, emit func(Row)) error {
	s, computer, err := l.serveOne(ctx, top, "hibernate_after = '0'\nfreeze_after = '1s'")
	if err != nil {
		return err
	}
	defer s.close()
	woken := func(ctx context.Context) (float64, error) {
		began := time.Now()
		err := s.wake(ctx, computer)
		return millis(time.Since(began)), err
	}
	thawed := func(ctx context.Context) (float64, error) {
		if err := s.awaitFigure(ctx, "computers_frozen", 1); err != nil {
			return 0, err
		}
		return woken(ctx)
	}
	if row, err = (turns{n: n, warmup: 1, ours: thawed, peer: woken}).measure(ctx, row); err == nil {
		emit(row)
	}
	return err
}

// wakeClaimed measures the time until a hibernated computer whose sandboxes wait for it has a
// terminal. cold opens one in a computer of another choir, without such sandboxes.
func (l *lab) wakeClaimed(ctx context.Context, row Row, cold sample, emit func(Row)) error {
	s, computer, err := l.serveOne(ctx, "", "hibernate_after = '1s'\nready = 1")
	if err != nil {
		return err
	}
	defer s.close()
	claimed := func(ctx context.Context) (float64, error) {
		if _, err := s.await(ctx, "hibernated", hibernates); err != nil {
			return 0, err
		}
		if err := s.awaitFigure(ctx, "sandboxes_ready", 2); err != nil {
			return 0, err
		}
		return s.openTerminal(ctx, computer)
	}
	if row, err = (turns{n: l.count(20), warmup: 1, ours: claimed, peer: cold}).measure(ctx, row); err == nil {
		emit(row)
	}
	return err
}

// openTerminal returns the milliseconds until a terminal is open, and ends it.
func (s *served) openTerminal(ctx context.Context, id choir.ID) (ms float64, err error) {
	path := "/api/computers/" + string(id) + "/terminals"
	var t terminals.Info
	began := time.Now()
	err = s.ask(ctx, http.MethodPost, path, api.TerminalRequest{}, &t)
	ms = millis(time.Since(began))
	if err == nil {
		err = s.ask(ctx, http.MethodDelete, path+"/"+string(t.ID), nil, nil)
	}
	return ms, err
}

package bench

import (
	"context"
	"errors"
)

// rung is a way to isolate other than local, with the bare sandboxes beside which it is measured.
type rung struct {
	driver   driver // is closed in the end
	why      string // it makes no sandbox here; empty when it does
	settings string // choose it for a choir, in TOML
	peer     sample // starts a bare sandbox, until it has said something
	about    string // the peer, in the rows
	hold     holder
	held     string // a bare sandbox that waits, in the rows
	// Starts one after the other and at once, starts of a choir's computer, and computers at once.
	starts, burst, wakes, computers int
}

// holder starts a bare sandbox in which a program waits, and returns the function that ends it.
type holder func(context.Context) (end func(), err error)

// benchRungs measures each rung but local, in the order of the ladder.
func (l *lab) benchRungs(ctx context.Context, measure func(context.Context, rung, func(Row)) error, emit func(Row)) error {
	for _, find := range []func(context.Context) (rung, error){l.findGvisor, l.findContainer, l.findMachine} {
		r, err := find(ctx)
		if err == nil {
			err = measure(ctx, r, emit)
		}
		if err := errors.Join(err, r.driver.Close()); err != nil {
			return err
		}
	}
	return nil
}

// benchRungTTI measures the time to the first command's output in sandboxes of a rung that are
// started one after the other, and in a burst.
func (l *lab) benchRungTTI(ctx context.Context, r rung, emit func(Row)) (err error) {
	row := func(name string) Row {
		return Row{Case: r.driver.Name() + ", " + name, Unit: "ms", Peer: r.about, Isolated: true, Skipped: r.why}
	}
	one, burst := row("sequential"), row("burst")
	if r.why != "" {
		emit(one)
		emit(burst)
		return nil
	}
	other := *l
	other.driver = r.driver
	defer func() { l.folders = other.folders }()
	if one, err = (turns{n: r.starts, warmup: min(2, r.starts), ours: other.coldStart, peer: r.peer}).measure(ctx, one); err != nil {
		return err
	}
	emit(one)
	if burst, err = other.together(ctx, burst, r.peer, r.burst, 0); err != nil {
		return err
	}
	emit(burst)
	return nil
}

// benchRungWake measures the time until a hibernated computer of a rung has a terminal, and until a
// frozen one answers.
func (l *lab) benchRungWake(ctx context.Context, r rung, emit func(Row)) error {
	name := r.driver.Name()
	opened := Row{Case: name + ", hibernated, until a terminal is open", Unit: "ms", Peer: r.about, Isolated: true, Skipped: r.why}
	frozen := Row{Case: name + ", frozen", Unit: "ms", Peer: sameNotFrozen, Isolated: true, Skipped: r.why}
	if r.why != "" {
		emit(opened)
		emit(frozen)
		return nil
	}
	if err := l.wakeHibernated(ctx, r, opened, emit); err != nil {
		return err
	}
	return l.wakeFrozen(ctx, r.settings, r.wakes, frozen, emit)
}

// wakeHibernated measures the time until a hibernated computer of a rung has a terminal.
func (l *lab) wakeHibernated(ctx context.Context, r rung, row Row, emit func(Row)) error {
	s, computer, err := l.serveOne(ctx, r.settings, hibernatesSoon)
	if err != nil {
		return err
	}
	defer s.close()
	opened := func(ctx context.Context) (float64, error) {
		if _, err := s.await(ctx, "hibernated", hibernates); err != nil {
			return 0, err
		}
		return s.openTerminal(ctx, computer)
	}
	if row, err = (turns{n: r.wakes, warmup: 1, ours: opened, peer: r.peer}).measure(ctx, row); err == nil {
		emit(row)
	}
	return err
}

// benchRungDensity measures the memory of each further idle computer of a rung.
func (l *lab) benchRungDensity(ctx context.Context, r rung, emit func(Row)) error {
	row := Row{Case: r.driver.Name() + ", " + idleCase(r.computers), Unit: "MB", Peer: "two of: " + r.held, Isolated: true, Skipped: r.why}
	if r.why != "" {
		emit(row)
		return nil
	}
	data, err := l.folder()
	if err != nil {
		return err
	}
	return l.measureIdle(ctx, data, r.settings, r.hold, []Row{row}, []int{r.computers}, emit)
}

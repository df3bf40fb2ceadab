package modelgw

import (
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
)

// Books reads the spending of a computer from its log.
type Books interface {
	// Spent returns the usage of a run's calls; of the whole computer for an empty run.
	Spent(ctx context.Context, run choir.ID) (Used, error)
	// BegunByDesktop reports whether a desktop began a run, as the source of its first
	// event.
	BegunByDesktop(ctx context.Context, run choir.ID) (bool, error)
	// SpentByDesktop returns the usage of all runs that a desktop began within the last
	// DesktopSpan.
	SpentByDesktop(ctx context.Context) (Used, error)
	// Unreturned lists the model.called events of the previous session that have no
	// model.returned.
	Unreturned(ctx context.Context) ([]choir.Event, error)
}

// DesktopSpan is the period, back from now, in which the runs that a desktop began count
// against its limit.
const DesktopSpan = 24 * time.Hour

// ledger holds the spent and reserved amounts of each account. It loads an account from
// the log on first use, so that a restart loses nothing. It makes no calls to other
// packages while it holds its lock.
type ledger struct {
	now   func() choir.Time
	ctx   context.Context // of the gateway; ends the loads
	loads sync.WaitGroup

	mu       sync.Mutex // guards the fields below and the accounts
	accounts map[string]*account
	asked    uint64        // how often an account was asked for
	changed  chan struct{} // closed and made anew when a reservation ends
}

// maxAccounts is the maximum of accounts in memory, unless more are in use. The least
// recently used one is dropped first.
const maxAccounts = 256

// loadTimeout is the maximum time for reading one account from the log.
const loadTimeout = time.Minute

// account is the spent and reserved amounts of one run, task or computer, or of all runs
// begun by a desktop.
type account struct {
	ready chan struct{} // closed when it is loaded
	err   error         // set before ready is closed
	used  Used
	held  Used // reserved by the open calls
	open  int  // calls
	pins  int  // callers that were given it and have not released it
	ended int  // calls since it was loaded
	read  choir.Time
	last  uint64 // asked of the ledger when it was last asked for
}

func newLedger(ctx context.Context, now func() choir.Time) *ledger {
	return &ledger{now: now, ctx: ctx, accounts: map[string]*account{}, changed: make(chan struct{})}
}

// account returns the account of a name and pins it; the caller releases it. The first
// caller starts the load, which goes on when that caller's ctx ends, for all others that
// wait. A failed load is dropped, so that the next call tries again.
func (l *ledger) account(ctx context.Context, name string, load func(context.Context) (Used, error)) (*account, error) {
	l.mu.Lock()
	a, found := l.accounts[name]
	if !found {
		l.dropUnused()
		a = &account{ready: make(chan struct{})}
		l.accounts[name] = a
		l.loads.Go(func() { l.load(name, a, load) })
	}
	l.asked++
	a.last = l.asked
	a.pins++
	l.mu.Unlock()
	var err error
	select {
	case <-a.ready:
		err = a.err
	case <-ctx.Done():
		err = choir.Wrap("modelgw.ledger", choir.CodeCancelled, ctx.Err(), "wait for what was spent")
	}
	if err != nil {
		l.release([]bound{{account: a}})
		return nil, err
	}
	return a, nil
}

// load reads an account with load and marks it as ready. A failed account is dropped
// from the ledger.
func (l *ledger) load(name string, a *account, load func(context.Context) (Used, error)) {
	ctx, cancel := context.WithTimeout(l.ctx, loadTimeout)
	defer cancel()
	used, err := load(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	a.used, a.read, a.err = used, l.now(), choir.Wrap("modelgw.ledger", "", err, "read what was spent")
	if err != nil && l.accounts[name] == a {
		delete(l.accounts, name)
	}
	close(a.ready)
}

// release unpins accounts that account returned.
func (l *ledger) release(all []bound) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range all {
		b.account.pins--
	}
}

// unused reports whether an account has neither open calls nor pins, so that it can be
// dropped and read from the log again.
func (a *account) unused() bool { return a.open == 0 && a.pins == 0 }

// dropUnused drops the least recently used accounts until there is room for one more, or
// all are in use. The caller holds the lock.
func (l *ledger) dropUnused() {
	for len(l.accounts) >= maxAccounts {
		var oldest *account
		var named string
		for name, a := range l.accounts {
			if a.unused() && (oldest == nil || a.last < oldest.last) {
				oldest, named = a, name
			}
		}
		if oldest == nil {
			return // the calls in flight are bounded, and so are these
		}
		delete(l.accounts, named)
	}
}

// refreshEvery is the age at which a sum over a period is read from the log again.
const refreshEvery = 10 * choir.Time(time.Minute/time.Millisecond)

// refresh reads an account again whose old calls drop out with time, if its sum is older
// than refreshEvery and no call is open. The result is discarded if a call was open or
// ended during the read, because it may lack that call.
func (l *ledger) refresh(ctx context.Context, a *account, load func(context.Context) (Used, error)) error {
	l.mu.Lock()
	fresh, ended := l.now()-a.read < refreshEvery || a.open > 0, a.ended
	l.mu.Unlock()
	if fresh {
		return nil
	}
	used, err := load(ctx)
	if err != nil {
		return choir.Wrap("modelgw.ledger", "", err, "read what was spent")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.open == 0 && a.ended == ended {
		a.used, a.read = used, l.now()
	}
	return nil
}

// forget drops all unused accounts, which are then read from the log again.
func (l *ledger) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, a := range l.accounts {
		if a.unused() {
			delete(l.accounts, name)
		}
	}
}

// reservation is the amount reserved for one call in each account that limits it.
type reservation struct {
	ledger *ledger
	bounds []bound
	most   Used
	ended  bool
}

// reserve reserves an amount in every account. If it fits only without the reservations
// of others, it waits for them to end. It returns the limit that the amount exceeds, and
// otherwise the reservation; code cancelled: ctx ended.
func (l *ledger) reserve(ctx context.Context, all []bound, most Used) (*reservation, *lacked, error) {
	for {
		l.mu.Lock()
		over, wait := fit(all, most)
		if over == nil && !wait {
			for _, b := range all {
				b.account.held = b.account.held.plus(most)
				b.account.open++
			}
			l.mu.Unlock()
			return &reservation{ledger: l, bounds: all, most: most}, nil, nil
		}
		changed := l.changed
		l.mu.Unlock()
		if over != nil {
			return nil, over, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, nil, choir.Wrap("modelgw.ledger", choir.CodeCancelled, ctx.Err(), "wait for the calls that are open, because the budget has no room beside them")
		}
	}
}

// fit checks an amount against the limits of all accounts. over is the limit it exceeds
// even without reservations; wait reports that it fits only without them.
func fit(all []bound, most Used) (over *lacked, wait bool) {
	for i := range all {
		b := &all[i]
		if r := b.lacking(b.account.used, most); r != nil {
			return &lacked{*r, b.of}, false
		}
		wait = wait || b.lacking(b.account.used.plus(b.account.held), most) != nil
	}
	return nil, wait
}

// raise replaces the reserved amount by a higher one, without waiting. over is the limit
// that the amount exceeds; crowded reports that it fits only without the reservations of
// others. Nothing changes in either case.
func (r *reservation) raise(most Used) (over *lacked, crowded bool) {
	l := r.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range r.bounds {
		b := &r.bounds[i]
		if reached := b.lacking(b.account.used, most); reached != nil {
			return &lacked{*reached, b.of}, false
		}
		others := b.account.held.minus(r.most)
		crowded = crowded || b.lacking(b.account.used.plus(others), most) != nil
	}
	if crowded {
		return nil, true
	}
	for _, b := range r.bounds {
		b.account.held = b.account.held.minus(r.most).plus(most)
	}
	r.most = most
	return nil, false
}

// commitUsage replaces the reservation by the call's actual usage in every account. Only
// the first call of it counts.
func (r *reservation) commitUsage(used Used) {
	l := r.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.ended {
		return
	}
	r.ended = true
	for _, b := range r.bounds {
		a := b.account
		a.used = a.used.plus(used)
		a.held = a.held.minus(r.most)
		a.open--
		a.ended++
		if a.open == 0 {
			a.held = Used{} // sums of costs do not come back to zero by themselves
		}
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

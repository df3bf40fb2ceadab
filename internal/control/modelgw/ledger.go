package modelgw

import (
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
)

// Books are what a computer's log says of its spending.
type Books interface {
	// Spent sums the calls of a run; an empty run means the whole computer.
	Spent(ctx context.Context, run choir.ID) (Used, error)
	// BegunByDesktop reports whether a desktop began a run.
	BegunByDesktop(ctx context.Context, run choir.ID) (bool, error)
	// SpentByDesktop sums the runs that a desktop began within DesktopSpan.
	SpentByDesktop(ctx context.Context) (Used, error)
	// Unreturned lists the model.called of the session before that have no
	// model.returned.
	Unreturned(ctx context.Context) ([]choir.Event, error)
}

// DesktopSpan is how far back the runs that a desktop began are counted.
const DesktopSpan = 24 * time.Hour

// ledger holds the sums that were spent and are reserved. It reads an account from the
// log when it is first needed, so that a restart forgets nothing. It calls
// nobody while it holds its lock.
type ledger struct {
	now   func() choir.Time
	ctx   context.Context // of the gateway; ends the loads
	loads sync.WaitGroup

	mu       sync.Mutex // guards what follows and the accounts
	accounts map[string]*account
	asked    uint64        // how often an account was asked for
	changed  chan struct{} // closed and made anew when a reservation ends
}

// maxAccounts is how many accounts are held at most, unless more are in use. Those of
// runs and tasks that have ended are the first to be dropped, because nobody asks for
// them.
const maxAccounts = 256

// loadTimeout bounds the reading of one account.
const loadTimeout = time.Minute

// account is what one run, task, desktop or computer spent and reserved.
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

// account returns an account, which the caller has to release. The first caller has
// it loaded, for all who ask meanwhile: the load goes on when that caller's context
// ends. An account that could not be loaded is forgotten, so that the next call tries
// again.
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

// release gives accounts back that account returned.
func (l *ledger) release(all []bound) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range all {
		b.account.pins--
	}
}

// unused reports whether an account can be dropped and read from the log again.
func (a *account) unused() bool { return a.open == 0 && a.pins == 0 }

// dropUnused makes room for one more account: those that nobody has asked for longest
// go first. The caller holds the lock.
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

// refreshEvery is how old a sum over a span of time may be.
const refreshEvery = 10 * choir.Time(time.Minute/time.Millisecond)

// refresh reads an account again from which old calls drop out. A sum during
// which a call was open or ended is not taken over: it may lack that call.
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

// forget drops the accounts, which are then read from the log again.
func (l *ledger) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, a := range l.accounts {
		if a.unused() {
			delete(l.accounts, name)
		}
	}
}

// reservation is what one call put aside.
type reservation struct {
	ledger *ledger
	bounds []bound
	most   Used
	ended  bool
}

// reserve puts an amount aside in every account. When it does not fit, but would
// without what others reserved, it waits for them. It returns the limit that it
// does not fit under, or the end of ctx.
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

// fit names the limit that an amount passes whatever the open calls need, or
// says that it has to wait for them.
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

// raise puts a higher amount aside in the place of the one before, without waiting. It
// returns the limit that the amount does not fit under, or says that it does not fit
// beside what others reserved; nothing changes then.
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

// commitUsage counts what the call used in the place of what it reserved. Only the
// first call counts.
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

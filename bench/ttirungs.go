package bench

import (
	"context"
	"errors"
)

// rungTTI is how the start of sandboxes is measured on a rung other than local.
type rungTTI struct {
	driver driver // is closed in the end
	why    string // it makes no sandbox here; empty when it does
	peer   sample
	about  string // the peer, in the rows
	n      int    // starts one after the other
	burst  int    // starts at once
}

// benchRungTTI measures the time to the first command's output in sandboxes of a rung that are
// started one after the other, and in a burst.
func (l *lab) benchRungTTI(ctx context.Context, r rungTTI, emit func(Row)) (err error) {
	defer func() { err = errors.Join(err, r.driver.Close()) }()
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
	if one, err = (turns{n: r.n, warmup: min(2, r.n), ours: other.coldStart, peer: r.peer}).measure(ctx, one); err != nil {
		return err
	}
	emit(one)
	if burst, err = other.together(ctx, burst, r.peer, r.burst, 0); err != nil {
		return err
	}
	emit(burst)
	return nil
}

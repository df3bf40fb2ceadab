package bench

import (
	"bytes"
	"context"

	"choiros/internal/choir"
)

const deliverPeer = "a message of the same bytes through raw NATS over WebSocket, to the same page"

// benchDeliver measures the commit of an event until it is in a browser page:
// from the moment the log has it, through relay, bus and gateway, to the
// message in the desktop's own connection.
func benchDeliver(ctx context.Context, l *lab, emit func(Row)) (err error) {
	row := Row{Case: "commit to page", Unit: "ms", Peer: deliverPeer, Durable: l.onDisk()}
	p, why, err := l.openSite(ctx)
	if p == nil {
		row.Skipped = why
		if err == nil {
			emitBoth(emit, row)
		}
		return err
	}
	defer func() { err = closing(p, err) }()
	if err := p.open(ctx); err != nil {
		return err
	}
	if row, err = measureDelivery(ctx, l, p, row); err != nil {
		return err
	}
	emitBoth(emit, row)
	return nil
}

// emitBoth tells one measurement twice: a row has one target, and ANCHORS two.
func emitBoth(emit func(Row), r Row) {
	emit(r)
	r.Case += ", p99"
	emit(r)
}

func measureDelivery(ctx context.Context, l *lab, p *page, row Row) (Row, error) {
	// One that was delivered is what the raw server carries as well.
	first := p.mark()
	if _, err := p.commit(ctx, first); err != nil {
		return row, err
	}
	head, _ := p.c.Store().Head()
	newest, err := p.c.Store().At(ctx, head)
	if err != nil {
		return row, err
	}
	event, err := choir.Canonical(newest)
	if err != nil {
		return row, err
	}
	return turns{
		n: l.count(500), warmup: l.count(50),
		ours: func(ctx context.Context) (float64, error) { return p.seenAfter(ctx, seenBus) },
		peer: func(ctx context.Context) (float64, error) {
			mark := p.mark()
			began, err := p.raw.send(bytes.Replace(event, []byte(first), []byte(mark), 1))
			if err != nil {
				return 0, err
			}
			return p.sawAfter(ctx, began, seenRaw, mark)
		},
	}.measure(ctx, row)
}

package bench

import (
	"bytes"
	"context"

	"choiros/internal/choir"
)

const (
	deliverPeer = "a message of the same bytes through raw NATS over WebSocket, to the same page"
	// besideRaw is the case of the row that shows raw NATS.
	besideRaw = "commit to page, beside raw NATS"
)

// benchDeliver measures the commit of an event until it is in a browser page:
// from the moment the log has it, through relay, bus and gateway, to the
// message in the desktop's own connection. The peers of the same samples are a durable
// consumer of JetStream and raw NATS.
func benchDeliver(ctx context.Context, l *lab, emit func(Row)) (err error) {
	stream := Row{Case: "commit to page", Unit: "ms", Peer: streamPeer, Durable: l.onDisk()}
	raw := stream
	raw.Case, raw.Peer = besideRaw, deliverPeer
	p, why, err := l.openSite(ctx)
	if p == nil {
		stream.Skipped, raw.Skipped = why, why
		if err == nil {
			emitBoth(emit, stream)
			emit(raw)
		}
		return err
	}
	defer func() { err = closing(p, err) }()
	dir, err := l.folder()
	if err != nil {
		return err
	}
	if p.stream, err = startJetStream(ctx, dir); err != nil {
		return err
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	rows, err := measureDelivery(ctx, l, p, stream, raw)
	if err != nil {
		return err
	}
	emitBoth(emit, rows[0])
	emit(rows[1])
	return nil
}

// emitBoth tells one measurement twice: a row has one target, and ANCHORS two.
func emitBoth(emit func(Row), r Row) {
	emit(r)
	r.Case += ", p99"
	emit(r)
}

func measureDelivery(ctx context.Context, l *lab, p *page, stream, raw Row) ([]Row, error) {
	// One that was delivered is what the other servers carry as well.
	first := p.mark()
	if _, err := p.commit(ctx, first); err != nil {
		return nil, err
	}
	head, _ := p.c.Store().Head()
	newest, err := p.c.Store().At(ctx, head)
	if err != nil {
		return nil, err
	}
	event, err := choir.Canonical(newest)
	if err != nil {
		return nil, err
	}
	marked := func(mark string) []byte { return bytes.Replace(event, []byte(first), []byte(mark), 1) }
	return turns{
		n: l.count(500), warmup: l.count(50),
		ours: func(ctx context.Context) (float64, error) { return p.seenAfter(ctx, seenBus) },
	}.measureBeside(ctx,
		against{stream, func(ctx context.Context) (float64, error) {
			mark := p.mark()
			began, err := p.stream.send(newest, marked(mark), p.marks)
			if err != nil {
				return 0, err
			}
			return p.sawAfter(ctx, began, seenStream, mark)
		}},
		against{raw, func(ctx context.Context) (float64, error) {
			mark := p.mark()
			began, err := p.raw.send(marked(mark))
			if err != nil {
				return 0, err
			}
			return p.sawAfter(ctx, began, seenRaw, mark)
		}},
	)
}

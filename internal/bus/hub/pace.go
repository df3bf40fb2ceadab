package hub

import (
	"context"
	"io"

	"golang.org/x/time/rate"
)

// What one connection from outside may send: enough for a blob, too little for
// a flood from one computer to slow the others down.
const (
	paceBytes = 16 << 20 // a second
	paceBurst = 16 << 20
)

// paced reads no faster than that.
type paced struct {
	ctx  context.Context
	from io.Reader
	pace *rate.Limiter
}

func newPaced(ctx context.Context, from io.Reader) *paced {
	return &paced{ctx: ctx, from: from, pace: rate.NewLimiter(paceBytes, paceBurst)}
}

func (p *paced) Read(b []byte) (int, error) {
	n, err := p.from.Read(b[:min(len(b), paceBurst)])
	if n > 0 && err == nil {
		err = p.pace.WaitN(p.ctx, n)
	}
	return n, err
}

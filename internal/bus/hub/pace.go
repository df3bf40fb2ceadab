package hub

import (
	"context"
	"io"

	"golang.org/x/time/rate"
)

// The rate limit for input of one connection from outside: enough for a blob, too little
// to slow down other computers.
const (
	paceBytes = 16 << 20 // a second
	paceBurst = 16 << 20
)

// paced is a reader with that rate limit.
type paced struct {
	ctx  context.Context
	from io.Reader
	pace *rate.Limiter
}

// newPaced returns a reader of from with the rate limit; waiting ends with ctx.
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

package egress

import (
	"context"
	"maps"
	"net/http"
	"strings"

	"golang.org/x/time/rate"

	"choiros/internal/choir"
)

// maxFlooders is the maximum of callers whose refused requests are counted apart; further callers
// are counted together.
const maxFlooders = 64

// countRefusal counts a refused request of a caller. It returns true if requests of the caller are
// refused unread from now on.
func (p *Proxy) countRefusal(r *http.Request) (floods bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.refusalsOf(r)
	return l.Allow() && l.Tokens() < 1
}

// refusesUnread refuses a request after a flood of refused requests of its caller, each of which makes
// the log be read. No event is recorded of it.
func (p *Proxy) refusesUnread(w http.ResponseWriter, r *http.Request, answer func(http.ResponseWriter, error)) bool {
	p.mu.Lock()
	floods := p.refusalsOf(r).Tokens() < 1
	p.mu.Unlock()
	if floods {
		answer(w, choir.Refuse("egress", choir.ReasonEgressBusy, choir.TextOf("host", strings.ToValidUTF8(r.Host, "?"))))
	}
	return floods
}

// refusalsOf returns the limiter of the refused requests of a caller. The caller holds mu.
func (p *Proxy) refusalsOf(r *http.Request) *rate.Limiter {
	caller := ""
	if p.cfg.Caller != nil {
		caller = p.cfg.Caller(r)
	}
	if l := p.refusals[caller]; l != nil {
		return l
	}
	if len(p.refusals) >= maxFlooders {
		maps.DeleteFunc(p.refusals, func(_ string, l *rate.Limiter) bool { return l.Tokens() >= float64(l.Burst()) })
	}
	if len(p.refusals) >= maxFlooders {
		caller = ""
	}
	l := p.refusals[caller]
	if l == nil {
		l = rate.NewLimiter(rate.Limit(p.cfg.Limits.Rate), p.cfg.Limits.Burst)
		p.refusals[caller] = l
	}
	return l
}

// recordFlood records that requests of a caller are refused unread after one more refusal.
func (p *Proxy) recordFlood(ctx context.Context, work Work, last Refusal) error {
	last.Why = choir.EgressLimit
	_, err := p.cfg.Log.RecordRefusal(ctx, work, last)
	return err
}

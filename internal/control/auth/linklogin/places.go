package linklogin

import (
	"net/http"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
)

// ticketAge is the time for which a ticket is valid.
const ticketAge = 30 * time.Second

// The maxima of unused tickets and of place sessions that one shell session has for one
// computer. Its pages use these up for no other computer.
const (
	maxTickets = 16
	maxPlaces  = 64
)

// ticket is a one-time permission to open a session in a place.
type ticket struct {
	shell string
	place auth.Place
	until time.Time
}

// NewTicket returns a one-time ticket for a place, for the shell session of p. Code
// rate_limited: maxTickets of it for the place's computer are unused.
func (l *Sessions) NewTicket(p auth.Principal, place auth.Place) (string, error) {
	token, err := auth.NewToken()
	if err != nil {
		return "", err
	}
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.valid(p.Shell, now) {
		return "", sessionEnded()
	}
	waiting := 0
	for key, t := range l.tickets {
		if now.After(t.until) {
			delete(l.tickets, key)
		} else if t.shell == p.Shell && t.place.Computer == place.Computer {
			waiting++
		}
	}
	if waiting >= maxTickets {
		return "", choir.Refuse("auth.ticket", choir.ReasonTooManyTickets, choir.CountOf("n", waiting), choir.SecondsOf("span", ticketAge))
	}
	l.tickets[auth.HashOf(token)] = ticket{shell: p.Shell, place: place, until: now.Add(ticketAge)}
	return token, nil
}

// RedeemTicket exchanges a ticket for a session in its place and returns the session's
// cookie. If the request already has a valid session there, that one is kept. Code
// unauthenticated: the ticket is wrong, used or expired.
func (l *Sessions) RedeemTicket(r *http.Request, token string, place auth.Place) (*http.Cookie, error) {
	secret, err := auth.NewToken()
	if err != nil {
		return nil, err
	}
	now := l.now()
	shell, err := l.spendTicket(token, place, now)
	if err != nil {
		return nil, err
	}
	if c, err := r.Cookie(place.Cookie()); err == nil && l.isFrom(shell, c.Value, place) {
		return placeCookie(place, c.Value), nil
	}
	l.mu.Lock()
	l.sessions[auth.HashOf(secret)] = session{Started: now, Seen: now, User: l.sessions[shell].User, Of: shell, Place: place}
	l.prune(now)
	l.mu.Unlock()
	// The page goes on after a crash. Where the disk is full it does not, and works
	// until then; Save says so at the end.
	_ = l.Save()
	return placeCookie(place, secret), nil
}

// spendTicket invalidates a ticket and returns the shell session it was made for. Code
// unauthenticated: it is wrong, expired or for another place.
func (l *Sessions) spendTicket(token string, place auth.Place, now time.Time) (shell string, err error) {
	key := auth.HashOf(token)
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := l.tickets[key]
	delete(l.tickets, key) // also one shown at the wrong door: somebody has it who should not
	if !ok || now.After(t.until) || t.place != place || !l.valid(t.shell, now) {
		return "", choir.Refuse("auth.enter", choir.ReasonTicketSpent)
	}
	return t.shell, nil
}

// isFrom reports whether secret is the token of a session in a place that was opened
// through the shell session.
func (l *Sessions) isFrom(shell, secret string, place auth.Place) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.sessions[auth.HashOf(secret)]
	return ok && s.Place == place && s.Of == shell
}

// placeCookie returns the session cookie of a place.
func placeCookie(place auth.Place, secret string) *http.Cookie {
	return &http.Cookie{
		Name: place.Cookie(), Value: secret, Path: "/", Secure: true, HttpOnly: true,
		SameSite: http.SameSiteNoneMode, Partitioned: true, MaxAge: int(auth.SessionAge.Seconds()),
	}
}

// CheckPlace returns the session of a request to a place. Code unauthenticated: there is
// none, or its shell session has ended.
func (l *Sessions) CheckPlace(r *http.Request, place auth.Place) (auth.Principal, error) {
	c, err := r.Cookie(place.Cookie())
	if err != nil {
		return auth.Principal{}, choir.Refuse("auth.check", choir.ReasonPageHasNoSession)
	}
	key := auth.HashOf(c.Value)
	s, ok := l.touch(key, l.now())
	if !ok || s.Of == "" || s.Place != place {
		return auth.Principal{}, sessionEnded()
	}
	return auth.Principal{Role: choir.RoleDesktop, User: s.User, Session: key, Shell: s.Of, Place: place}, nil
}

// sessionEnded returns the error of code unauthenticated for an ended session.
func sessionEnded() error {
	return choir.Refuse("auth.check", choir.ReasonSessionEnded)
}

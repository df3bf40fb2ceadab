package auth

import (
	"net/http"
	"time"

	"choiros/internal/choir"
)

// The cookies of the places a shell session can enter. Each lives on a host of
// its own; Partitioned keeps it to the shell that frames it.
const (
	DesktopCookie = "__Host-choir-desktop"
	PreviewCookie = "__Host-choir-preview"
)

// ticketAge is how long a ticket waits to be used.
const ticketAge = 30 * time.Second

// How much one shell session may have open at a time.
const (
	maxTickets = 16
	maxPlaces  = 64
)

// Place is one origin that untrusted pages come from: a computer's desktop, with
// a port what listens there inside its sandbox, or the desktop as it was before.
type Place struct {
	Computer choir.ID `json:"computer,omitempty"`
	Port     int      `json:"port,omitempty"`
	Past     bool     `json:"past,omitempty"`
}

// cookie is the name of the cookie that a place keeps.
func (p Place) cookie() string {
	if p.Port > 0 {
		return PreviewCookie
	}
	return DesktopCookie
}

// ticket lets its bearer into a place once.
type ticket struct {
	shell string
	place Place
	until time.Time
}

// NewTicket makes a one-time ticket for a place, in the name of the shell
// session that p belongs to. Code rate_limited when too many wait.
func (l *Local) NewTicket(p Principal, place Place) (string, error) {
	token, err := newToken()
	if err != nil {
		return "", err
	}
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.lives(p.Shell, now) {
		return "", ended()
	}
	waiting := 0
	for key, t := range l.tickets {
		if now.After(t.until) {
			delete(l.tickets, key)
		} else if t.shell == p.Shell {
			waiting++
		}
	}
	if waiting >= maxTickets {
		return "", choir.E("auth.ticket", choir.CodeRateLimited, "%d tickets wait to be used", waiting).WithRemedy("try again in %s", ticketAge)
	}
	l.tickets[hashOf(token)] = ticket{shell: p.Shell, place: place, until: now.Add(ticketAge)}
	return token, nil
}

// Enter trades a ticket for a session in its place, and is the cookie of it.
// Where the request carries a good one already, that is kept.
func (l *Local) Enter(r *http.Request, token string, place Place) (*http.Cookie, error) {
	secret, err := newToken()
	if err != nil {
		return nil, err
	}
	now := l.now()
	shell, err := l.spendTicket(token, place, now)
	if err != nil {
		return nil, err
	}
	if c, err := r.Cookie(place.cookie()); err == nil && l.isFrom(shell, c.Value, place) {
		return placeCookie(place, c.Value), nil
	}
	l.mu.Lock()
	l.sessions[hashOf(secret)] = session{Started: now, Seen: now, Of: shell, Place: place}
	l.prune(now)
	l.mu.Unlock()
	// The page goes on after a crash. Where the disk is full it does not, and works
	// until then; Save says so at the end.
	_ = l.Save()
	return placeCookie(place, secret), nil
}

// spendTicket uses up a ticket and returns the shell session that made it.
func (l *Local) spendTicket(token string, place Place, now time.Time) (shell string, err error) {
	key := hashOf(token)
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := l.tickets[key]
	delete(l.tickets, key) // also one shown at the wrong door: somebody has it who should not
	if !ok || now.After(t.until) || t.place != place || !l.lives(t.shell, now) {
		return "", choir.E("auth.enter", choir.CodeUnauthenticated, "this ticket was used already, is too old or is for another place").
			WithRemedy("reload the page, which gets a new one")
	}
	return t.shell, nil
}

// isFrom reports whether a secret is that of a session which a shell session let into
// a place.
func (l *Local) isFrom(shell, secret string, place Place) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.sessions[hashOf(secret)]
	return ok && s.Place == place && s.Of == shell
}

func placeCookie(place Place, secret string) *http.Cookie {
	return &http.Cookie{
		Name: place.cookie(), Value: secret, Path: "/", Secure: true, HttpOnly: true,
		SameSite: http.SameSiteNoneMode, Partitioned: true, MaxAge: int(SessionAge.Seconds()),
	}
}

// CheckPlace finds the session of a request to a place. It ends with the shell
// session that let it in.
func (l *Local) CheckPlace(r *http.Request, place Place) (Principal, error) {
	c, err := r.Cookie(place.cookie())
	if err != nil {
		return Principal{}, choir.E("auth.check", choir.CodeUnauthenticated, "this page has no session").
			WithRemedy("open the computer from the top bar")
	}
	key := hashOf(c.Value)
	s, ok := l.touch(key, l.now())
	if !ok || s.Of == "" || s.Place != place {
		return Principal{}, ended()
	}
	return Principal{Role: choir.RoleDesktop, Session: key, Shell: s.Of, Place: place}, nil
}

func ended() error {
	return choir.E("auth.check", choir.CodeUnauthenticated, "your session has ended").
		WithRemedy("print a new login link with: choir up --link")
}

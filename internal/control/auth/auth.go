// Package auth says who sent a request: the principal, the places where a session is
// good, and the contract of what authenticates people, which cmd binds.
package auth

import (
	"context"
	"net/http"
	"time"

	"choiros/internal/choir"
)

// Cookie is the name of the shell's session cookie. The prefix binds it to one host, and
// SameSite=Strict keeps it from requests that a desktop's pages make.
const Cookie = "__Host-choir"

// The names of the session cookies of places. Each place is a host of its own;
// Partitioned binds the cookie to the shell that frames the place.
const (
	DesktopCookie = "__Host-choir-desktop"
	PreviewCookie = "__Host-choir-preview"
)

// The maximum age of a session, and its maximum idle time.
const (
	SessionAge  = 7 * 24 * time.Hour
	SessionIdle = 24 * time.Hour
)

// LinkAge is the time for which a login link is valid, so that a link found later in a
// journal or a terminal's history is useless.
const LinkAge = 15 * time.Minute

// Principal is the authenticated sender of a request.
type Principal struct {
	Role choir.Role
	// User is the user whose session this is.
	User choir.ID
	// Session is the hash of the session's token; empty for the CLI.
	Session string
	// Shell is the shell session through which this session was opened; for a shell
	// session itself.
	Shell string
	// Place is the place of a session other than the shell's.
	Place Place
}

type principalKey struct{}

// With returns a context with the principal.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// Of returns the principal of a request's context; false if it has none.
func Of(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok
}

// Place identifies an origin of untrusted pages: a computer's desktop, its past, or a
// server at a port inside its sandbox.
type Place struct {
	Computer choir.ID `json:"computer,omitempty"`
	Port     int      `json:"port,omitempty"`
	Past     bool     `json:"past,omitempty"`
}

// Cookie returns the name of the session cookie of a place.
func (p Place) Cookie() string {
	if p.Port > 0 {
		return PreviewCookie
	}
	return DesktopCookie
}

// Links log people in who come from outside with a link.
type Links interface {
	// NewLink returns a one-time login token for a user, valid for LinkAge. It invalidates
	// the previous one.
	NewLink(user choir.ID) (string, error)
	// LoggedIn reports whether there is a valid shell session.
	LoggedIn() bool
}

// Sessions are the sessions of people in the shell.
type Sessions interface {
	// Login exchanges a login token for a new session and returns its cookie. Code
	// unauthenticated: the token is wrong, used or expired.
	Login(token string) (*http.Cookie, error)
	// Check returns the shell session of a request. Code unauthenticated: there is none, or
	// it has ended.
	Check(r *http.Request) (Principal, error)
	// Alive reports whether a session may still be used, without counting as use.
	Alive(p Principal) bool
	// Logout removes a session and those opened through it, durably.
	Logout(p Principal) error
}

// Places are the sessions of untrusted pages, each opened through a shell session.
type Places interface {
	// NewTicket returns a one-time ticket for a place, for the shell session of p. Code
	// rate_limited: too many of it for the place's computer are unused.
	NewTicket(p Principal, place Place) (string, error)
	// RedeemTicket exchanges a ticket for a session in its place and returns the session's
	// cookie. Code unauthenticated: the ticket is wrong, used, expired or for another place.
	RedeemTicket(r *http.Request, token string, place Place) (*http.Cookie, error)
	// CheckPlace returns the session of a request to a place. Code unauthenticated: there is
	// none, or its shell session has ended.
	CheckPlace(r *http.Request, place Place) (Principal, error)
}

// Authority authenticates the people of a control plane. It may be used by many
// goroutines at once.
type Authority interface {
	Links
	Sessions
	Places
	// Save writes the sessions durably.
	Save() error
}

// Package auth says who you are. In local mode that is whoever opened the
// one-time link printed at start.
package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// Cookie is the shell's session cookie. Its prefix keeps it to one host, and
// SameSite=Strict keeps it from requests the desktop makes.
const Cookie = "__Host-choir"

// How long a session lives, and how long it may lie idle.
const (
	SessionAge  = 7 * 24 * time.Hour
	SessionIdle = 24 * time.Hour
)

const (
	// maxSessions bounds what is kept; the one that lay idle longest goes first.
	maxSessions = 64
	// saveEvery is how old the file's word on when a session was used may get.
	saveEvery = 10 * time.Minute
)

// Principal is who makes a request.
type Principal struct {
	Role choir.Role
	// Session is the hash of the session's token; empty for the CLI.
	Session string
}

type principalKey struct{}

// With adds the principal to a context.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// Of is the principal of a request; ok is false when nobody is known.
func Of(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok
}

// Local keeps the sessions of local mode. Tokens are kept as hashes only.
type Local struct {
	path string
	now  func() time.Time

	saving sync.Mutex // held while the file is written, so that the newest state wins

	mu       sync.Mutex // guards what follows
	link     string     // hash of the one-time token, empty once used
	sessions map[string]session
	saved    time.Time
}

type session struct {
	Started time.Time `json:"started"`
	Seen    time.Time `json:"seen"`
}

// NewLocal reads the sessions kept at path, which only its owner may read. A
// file that is damaged holds no sessions: its owner logs in again.
func NewLocal(path string, now func() time.Time) (*Local, error) {
	l := &Local{path: path, now: now, sessions: map[string]session{}, saved: now()}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, choir.Wrap("auth.open", choir.CodeUnavailable, err, "read the sessions in %s", path)
	}
	if json.Unmarshal(raw, &l.sessions) != nil || l.sessions == nil {
		l.sessions = map[string]session{}
	}
	return l, nil
}

// NewLink makes the one-time token of a login link. An earlier one is void.
func (l *Local) NewLink() (string, error) {
	token, err := newToken()
	if err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.link = hashOf(token)
	return token, nil
}

// Login trades the one-time token for a session.
func (l *Local) Login(token string) (*http.Cookie, error) {
	l.mu.Lock()
	good := l.link != "" && token != "" && hashOf(token) == l.link
	if good {
		l.link = ""
	}
	l.mu.Unlock()
	if !good {
		return nil, choir.E("auth.login", choir.CodeUnauthenticated, "this login link was used already or is not the newest").
			WithRemedy("print a new one with: choir up --link")
	}
	secret, err := newToken()
	if err != nil {
		return nil, err
	}
	now := l.now()
	l.mu.Lock()
	l.sessions[hashOf(secret)] = session{Started: now, Seen: now}
	l.prune(now)
	l.mu.Unlock()
	// A session that cannot be kept over a restart, because the disk is full, is
	// still one; Save says so at the end.
	_ = l.Save()
	return &http.Cookie{
		Name: Cookie, Value: secret, Path: "/", Secure: true, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, MaxAge: int(SessionAge.Seconds()),
	}, nil
}

// prune drops the sessions that ended, and the idlest beyond the limit. The
// caller holds mu.
func (l *Local) prune(now time.Time) {
	for key, s := range l.sessions {
		if s.ended(now) {
			delete(l.sessions, key)
		}
	}
	for len(l.sessions) > maxSessions {
		var idlest string
		for key, s := range l.sessions {
			if idlest == "" || s.Seen.Before(l.sessions[idlest].Seen) {
				idlest = key
			}
		}
		delete(l.sessions, idlest)
	}
}

func (s session) ended(now time.Time) bool {
	return now.Sub(s.Started) > SessionAge || now.Sub(s.Seen) > SessionIdle
}

// Check finds the session of a request.
func (l *Local) Check(r *http.Request) (Principal, error) {
	c, err := r.Cookie(Cookie)
	if err != nil {
		return Principal{}, choir.E("auth.check", choir.CodeUnauthenticated, "you are not logged in").
			WithRemedy("open the link that choir up printed, or print a new one with: choir up --link")
	}
	key, now := hashOf(c.Value), l.now()
	if !l.touch(key, now) {
		return Principal{}, choir.E("auth.check", choir.CodeUnauthenticated, "your session has ended").
			WithRemedy("print a new login link with: choir up --link")
	}
	return Principal{Role: choir.RoleShell, Session: key}, nil
}

// touch notes that a session was used, now and then in the file too, so that a
// crash does not make it look idle.
func (l *Local) touch(key string, now time.Time) bool {
	l.mu.Lock()
	s, ok := l.sessions[key]
	if !ok || s.ended(now) {
		delete(l.sessions, key)
		l.mu.Unlock()
		return false
	}
	s.Seen = now
	l.sessions[key] = s
	late := now.Sub(l.saved) > saveEvery
	if late {
		l.saved = now
	}
	l.mu.Unlock()
	if late {
		_ = l.Save() // tried again at the next; Save says so at the end
	}
	return true
}

// Alive says whether a session may still be used, and does not count as use.
func (l *Local) Alive(p Principal) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.sessions[p.Session]
	return ok && !s.ended(l.now())
}

// Logout ends a session.
func (l *Local) Logout(p Principal) error {
	l.mu.Lock()
	delete(l.sessions, p.Session)
	l.mu.Unlock()
	return l.Save()
}

// Save keeps the sessions over a restart.
func (l *Local) Save() error {
	l.saving.Lock()
	defer l.saving.Unlock()
	l.mu.Lock()
	raw, err := json.Marshal(l.sessions)
	l.mu.Unlock()
	if err != nil {
		return choir.Wrap("auth.save", choir.CodeInternal, err, "encode the sessions")
	}
	tmp := l.path + ".new"
	if err = os.WriteFile(tmp, raw, 0o600); err == nil {
		fault.Point("auth.rename")
		err = os.Rename(tmp, l.path)
	}
	return choir.Wrap("auth.save", choir.CodeUnavailable, err, "keep the sessions in %s", l.path)
}

func newToken() (string, error) {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", choir.Wrap("auth.token", choir.CodeInternal, err, "read randomness")
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

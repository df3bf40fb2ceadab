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
	"slices"
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

// LinkAge is how long a login link waits to be opened: what is found later in a
// journal or a terminal's history lets nobody in.
const LinkAge = 15 * time.Minute

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
	// Shell is the shell's session that this one belongs to, or itself.
	Shell string
	// Place is where a session is that is not the shell's.
	Place Place
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
	until    time.Time  // until when the link may be used
	sessions map[string]session
	tickets  map[string]ticket // by hash; never in the file
	saved    time.Time
}

type session struct {
	Started time.Time `json:"started"`
	Seen    time.Time `json:"seen"`
	// Of is the shell session that let this one into its place; empty for a
	// shell session.
	Of string `json:"of,omitempty"`
	Place
}

// NewLocal reads the sessions kept at path, which only its owner may read. A
// file that is damaged holds no sessions: its owner logs in again.
func NewLocal(path string, now func() time.Time) (*Local, error) {
	l := &Local{path: path, now: now, sessions: map[string]session{}, tickets: map[string]ticket{}, saved: now()}
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

// NewLink makes the one-time token of a login link, which is good for LinkAge. An
// earlier one is void.
func (l *Local) NewLink() (string, error) {
	token, err := newToken()
	if err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.link, l.until = hashOf(token), l.now().Add(LinkAge)
	return token, nil
}

// LoggedIn reports whether somebody has a session of the shell.
func (l *Local) LoggedIn() bool {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, s := range l.sessions {
		if s.Of == "" && l.lives(key, now) {
			return true
		}
	}
	return false
}

// Login trades the one-time token for a session.
func (l *Local) Login(token string) (*http.Cookie, error) {
	now := l.now()
	if err := l.spend(token, now); err != nil {
		return nil, err
	}
	secret, err := newToken()
	if err != nil {
		return nil, err
	}
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

// spend uses up the one-time token; code unauthenticated for any other, and when
// it comes too late.
func (l *Local) spend(token string, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	why := "was used already or is not the newest"
	if l.link != "" && token != "" && hashOf(token) == l.link {
		l.link = ""
		if !now.After(l.until) {
			return nil
		}
		why = "is older than 15 minutes"
	}
	return choir.E("auth.login", choir.CodeUnauthenticated, "this login link %s", why).WithRemedy("print a new one with: choir up --link")
}

// prune drops the sessions that ended, and the idlest beyond the limits. The
// caller holds mu.
func (l *Local) prune(now time.Time) {
	for key := range l.sessions {
		if !l.lives(key, now) {
			delete(l.sessions, key)
		}
	}
	l.pruneIdlest("", maxSessions)
	for key, s := range l.sessions {
		if s.Of == "" {
			l.pruneIdlest(key, maxPlaces)
		}
	}
}

// pruneIdlest keeps the most of those that belong to one shell session; to ""
// belong the shell sessions themselves. The caller holds mu.
func (l *Local) pruneIdlest(of string, most int) {
	var all []string
	for key, s := range l.sessions {
		if s.Of == of {
			all = append(all, key)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return l.sessions[a].Seen.Compare(l.sessions[b].Seen) })
	for _, key := range all[:max(0, len(all)-most)] {
		l.drop(key)
	}
}

// drop ends a session and those it let in. The caller holds mu.
func (l *Local) drop(key string) {
	delete(l.sessions, key)
	for other, s := range l.sessions {
		if s.Of == key {
			delete(l.sessions, other)
		}
	}
}

// lives says whether a session may be used; one in a place ends with the shell
// session that let it in, and does not end by idling before that. The caller
// holds mu.
func (l *Local) lives(key string, now time.Time) bool {
	s, ok := l.sessions[key]
	if !ok || now.Sub(s.Started) > SessionAge {
		return false
	}
	if s.Of != "" {
		return l.sessions[s.Of].Of == "" && l.lives(s.Of, now)
	}
	return now.Sub(s.Seen) <= SessionIdle
}

// Check finds the session of a request.
func (l *Local) Check(r *http.Request) (Principal, error) {
	c, err := r.Cookie(Cookie)
	if err != nil {
		return Principal{}, choir.E("auth.check", choir.CodeUnauthenticated, "you are not logged in").
			WithRemedy("open the link that choir up printed, or print a new one with: choir up --link")
	}
	key := hashOf(c.Value)
	if s, ok := l.touch(key, l.now()); !ok || s.Of != "" {
		return Principal{}, ended()
	}
	return Principal{Role: choir.RoleShell, Session: key, Shell: key}, nil
}

// touch notes that a session was used, now and then in the file too, so that a
// crash does not make it look idle.
func (l *Local) touch(key string, now time.Time) (session, bool) {
	l.mu.Lock()
	if !l.lives(key, now) {
		l.drop(key)
		l.mu.Unlock()
		return session{}, false
	}
	s := l.sessions[key]
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
	return s, true
}

// Alive says whether a session may still be used, and does not count as use.
func (l *Local) Alive(p Principal) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lives(p.Session, l.now())
}

// Logout ends a session, and those it let into other places.
func (l *Local) Logout(p Principal) error {
	l.mu.Lock()
	l.drop(p.Session)
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

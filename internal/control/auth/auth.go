// Package auth authenticates people by sessions. In local mode the owner logs in with
// the one-time link printed at start.
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
	"choiros/internal/durablefile"
	"choiros/internal/fault"
)

// Cookie is the name of the shell's session cookie. The prefix binds it to one host, and
// SameSite=Strict keeps it from requests that a desktop's pages make.
const Cookie = "__Host-choir"

// The maximum age of a session, and its maximum idle time.
const (
	SessionAge  = 7 * 24 * time.Hour
	SessionIdle = 24 * time.Hour
)

// LinkAge is the time for which a login link is valid, so that a link found later in a
// journal or a terminal's history is useless.
const LinkAge = 15 * time.Minute

const (
	// maxSessions is the maximum of shell sessions. The one idle longest is dropped
	// first.
	maxSessions = 64
	// saveEvery is the maximum age of a session's last use in the file.
	saveEvery = 10 * time.Minute
)

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

// Local stores the sessions of local mode. It keeps only hashes of tokens.
type Local struct {
	path string
	now  func() time.Time

	saving sync.Mutex // held while the file is written, so that the newest state wins

	mu       sync.Mutex // guards the fields below
	link     string     // hash of the one-time token, empty once used
	linkUser choir.ID   // user that the link logs in
	until    time.Time  // until when the link may be used
	sessions map[string]session
	tickets  map[string]ticket // by hash; never in the file
	saved    time.Time
}

// session is the stored state of a session, under the hash of its token.
type session struct {
	Started time.Time `json:"started"`
	Seen    time.Time `json:"seen"`
	User    choir.ID  `json:"user,omitempty"`
	// Of is the key of the shell session that opened this session in its place; empty
	// for a shell session.
	Of string `json:"of,omitempty"`
	Place
}

// NewLocal reads the sessions stored at path, which only the control plane's user may
// read. A missing or damaged file has no sessions, so that the owner logs in again. A
// stored session without a user is the owner's.
func NewLocal(path string, owner choir.ID, now func() time.Time) (*Local, error) {
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
	for key, s := range l.sessions {
		if s.User == "" {
			s.User = owner
			l.sessions[key] = s
		}
	}
	return l, nil
}

// NewLink returns a one-time login token for a user, valid for LinkAge. It invalidates
// the previous one.
func (l *Local) NewLink(user choir.ID) (string, error) {
	token, err := newToken()
	if err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.link, l.linkUser, l.until = hashOf(token), user, l.now().Add(LinkAge)
	return token, nil
}

// LoggedIn reports whether there is a valid shell session.
func (l *Local) LoggedIn() bool {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, s := range l.sessions {
		if s.Of == "" && l.valid(key, now) {
			return true
		}
	}
	return false
}

// Login exchanges the one-time token for a new session and returns its cookie. Code
// unauthenticated: the token is wrong, used or expired.
func (l *Local) Login(token string) (*http.Cookie, error) {
	now := l.now()
	user, err := l.spendLink(token, now)
	if err != nil {
		return nil, err
	}
	secret, err := newToken()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.sessions[hashOf(secret)] = session{Started: now, Seen: now, User: user}
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

// spendLink invalidates the one-time token and returns its user. Code unauthenticated:
// it is wrong, used or expired.
func (l *Local) spendLink(token string, now time.Time) (choir.ID, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	why := choir.ReasonLinkUsed
	if l.link != "" && token != "" && hashOf(token) == l.link {
		l.link = ""
		if !now.After(l.until) {
			return l.linkUser, nil
		}
		why = choir.ReasonLinkTooOld
	}
	return "", choir.Refuse("auth.login", why)
}

// prune drops the sessions that ended, and the longest idle ones beyond the limits. The
// caller holds mu.
func (l *Local) prune(now time.Time) {
	for key := range l.sessions {
		if !l.valid(key, now) {
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

// pruneIdlest drops the longest idle sessions opened through one shell session until at
// most most are left; "" means the shell sessions themselves. The caller holds mu.
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

// drop removes a session and those opened through it. The caller holds mu.
func (l *Local) drop(key string) {
	delete(l.sessions, key)
	for other, s := range l.sessions {
		if s.Of == key {
			delete(l.sessions, other)
		}
	}
}

// valid reports whether a session may be used: it is not too old, and not idle for too
// long. A session of a place depends on its shell session instead of its own idle time.
// The caller holds mu.
func (l *Local) valid(key string, now time.Time) bool {
	s, ok := l.sessions[key]
	if !ok || now.Sub(s.Started) > SessionAge {
		return false
	}
	if s.Of != "" {
		return l.sessions[s.Of].Of == "" && l.valid(s.Of, now)
	}
	return now.Sub(s.Seen) <= SessionIdle
}

// Check returns the shell session of a request. Code unauthenticated: there is none, or
// it has ended.
func (l *Local) Check(r *http.Request) (Principal, error) {
	c, err := r.Cookie(Cookie)
	if err != nil {
		return Principal{}, choir.Refuse("auth.check", choir.ReasonNotLoggedIn)
	}
	key := hashOf(c.Value)
	s, ok := l.touch(key, l.now())
	if !ok || s.Of != "" {
		return Principal{}, sessionEnded()
	}
	return Principal{Role: choir.RoleShell, User: s.User, Session: key, Shell: key}, nil
}

// touch records the use of a session and returns it; false if it has ended. It saves the
// sessions every saveEvery, so that a crash does not make them look idle.
func (l *Local) touch(key string, now time.Time) (session, bool) {
	l.mu.Lock()
	if !l.valid(key, now) {
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

// Alive reports whether a session may still be used, without counting as use.
func (l *Local) Alive(p Principal) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.valid(p.Session, l.now())
}

// Logout removes a session and those opened through it, and saves the rest.
func (l *Local) Logout(p Principal) error {
	l.mu.Lock()
	l.drop(p.Session)
	l.mu.Unlock()
	return l.Save()
}

// sessionFile replaces the file of the sessions durably.
var sessionFile = durablefile.RenamedAt(func() { fault.Point("auth.rename") })

// Save writes the sessions durably to the file.
func (l *Local) Save() error {
	l.saving.Lock()
	defer l.saving.Unlock()
	l.mu.Lock()
	raw, err := json.Marshal(l.sessions)
	l.mu.Unlock()
	if err != nil {
		return choir.Wrap("auth.save", choir.CodeInternal, err, "encode the sessions")
	}
	return choir.Wrap("auth.save", choir.CodeUnavailable, sessionFile.Write(l.path, raw), "keep the sessions in %s", l.path)
}

// newToken returns a random token of 32 bytes in base64.
func newToken() (string, error) {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", choir.Wrap("auth.token", choir.CodeInternal, err, "read randomness")
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// hashOf returns the SHA-256 of a token in hexadecimal.
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

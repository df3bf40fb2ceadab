// Package linklogin authenticates the owner of a computer in local mode: by the one-time
// link printed at start, and by sessions that are kept in a file of hashes.
package linklogin

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
	"choiros/internal/durablefile"
	"choiros/internal/fault"
)

const (
	// maxSessions is the maximum of shell sessions. The one idle longest is dropped
	// first.
	maxSessions = 64
	// saveEvery is the maximum age of a session's last use in the file.
	saveEvery = 10 * time.Minute
)

// Sessions stores the sessions of local mode. It keeps only hashes of tokens.
type Sessions struct {
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
	auth.Place
}

// OpenFolder opens the sessions kept in dir, a folder that only the control plane's user may
// read. A stored session without a user is the owner's.
func OpenFolder(dir string, owner choir.ID, now func() time.Time) (auth.Authority, error) {
	return Open(filepath.Join(dir, "sessions.json"), owner, now)
}

// Open reads the sessions stored at path, which only the control plane's user may
// read. A missing or damaged file has no sessions, so that the owner logs in again. A
// stored session without a user is the owner's.
func Open(path string, owner choir.ID, now func() time.Time) (*Sessions, error) {
	l := &Sessions{path: path, now: now, sessions: map[string]session{}, tickets: map[string]ticket{}, saved: now()}
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

// NewLink returns a one-time login token for a user, valid for auth.LinkAge. It invalidates
// the previous one.
func (l *Sessions) NewLink(user choir.ID) (string, error) {
	token, err := auth.NewToken()
	if err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.link, l.linkUser, l.until = auth.HashOf(token), user, l.now().Add(auth.LinkAge)
	return token, nil
}

// LoggedIn reports whether there is a valid shell session.
func (l *Sessions) LoggedIn() bool {
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
func (l *Sessions) Login(token string) (*http.Cookie, error) {
	now := l.now()
	user, err := l.spendLink(token, now)
	if err != nil {
		return nil, err
	}
	secret, err := auth.NewToken()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.sessions[auth.HashOf(secret)] = session{Started: now, Seen: now, User: user}
	l.prune(now)
	l.mu.Unlock()
	// A session that cannot be kept over a restart, because the disk is full, is
	// still one; Save says so at the end.
	_ = l.Save()
	return &http.Cookie{
		Name: auth.Cookie, Value: secret, Path: "/", Secure: true, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, MaxAge: int(auth.SessionAge.Seconds()),
	}, nil
}

// spendLink invalidates the one-time token and returns its user. Code unauthenticated:
// it is wrong, used or expired.
func (l *Sessions) spendLink(token string, now time.Time) (choir.ID, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	why := choir.ReasonLinkUsed
	if l.link != "" && token != "" && auth.HashOf(token) == l.link {
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
func (l *Sessions) prune(now time.Time) {
	for key := range l.sessions {
		if !l.valid(key, now) {
			delete(l.sessions, key)
		}
	}
	l.pruneIdlest("", "", maxSessions)
	type owner struct {
		shell    string
		computer choir.ID
	}
	owners := map[owner]struct{}{}
	for _, s := range l.sessions {
		if s.Of != "" {
			owners[owner{s.Of, s.Computer}] = struct{}{}
		}
	}
	for o := range owners {
		l.pruneIdlest(o.shell, o.computer, maxPlaces)
	}
}

// pruneIdlest drops the longest idle sessions opened through one shell session for one
// computer until at most most are left; "" means the shell sessions themselves. The
// caller holds mu.
func (l *Sessions) pruneIdlest(of string, computer choir.ID, most int) {
	var all []string
	for key, s := range l.sessions {
		if s.Of == of && s.Computer == computer {
			all = append(all, key)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return l.sessions[a].Seen.Compare(l.sessions[b].Seen) })
	for _, key := range all[:max(0, len(all)-most)] {
		l.drop(key)
	}
}

// drop removes a session and those opened through it. The caller holds mu.
func (l *Sessions) drop(key string) {
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
func (l *Sessions) valid(key string, now time.Time) bool {
	s, ok := l.sessions[key]
	if !ok || now.Sub(s.Started) > auth.SessionAge {
		return false
	}
	if s.Of != "" {
		return l.sessions[s.Of].Of == "" && l.valid(s.Of, now)
	}
	return now.Sub(s.Seen) <= auth.SessionIdle
}

// Check returns the shell session of a request. Code unauthenticated: there is none, or
// it has ended.
func (l *Sessions) Check(r *http.Request) (auth.Principal, error) {
	c, err := r.Cookie(auth.Cookie)
	if err != nil {
		return auth.Principal{}, choir.Refuse("auth.check", choir.ReasonNotLoggedIn)
	}
	key := auth.HashOf(c.Value)
	s, ok := l.touch(key, l.now())
	if !ok || s.Of != "" {
		return auth.Principal{}, sessionEnded()
	}
	return auth.Principal{Role: choir.RoleShell, User: s.User, Session: key, Shell: key}, nil
}

// touch records the use of a session and returns it; false if it has ended. It saves the
// sessions every saveEvery, so that a crash does not make them look idle.
func (l *Sessions) touch(key string, now time.Time) (session, bool) {
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
func (l *Sessions) Alive(p auth.Principal) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.valid(p.Session, l.now())
}

// Logout removes a session and those opened through it, and saves the rest.
func (l *Sessions) Logout(p auth.Principal) error {
	l.mu.Lock()
	l.drop(p.Session)
	l.mu.Unlock()
	return l.Save()
}

// sessionFile replaces the file of the sessions durably.
var sessionFile = durablefile.RenamedAt(func() { fault.Point("auth.rename") })

// Save writes the sessions durably to the file.
func (l *Sessions) Save() error {
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

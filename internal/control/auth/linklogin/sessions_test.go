package linklogin

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
)

// firstUser is the user of a data folder.
var firstUser = choir.DeriveID("", "user")

// clock is a clock that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newLocal(t *testing.T) (*Sessions, *clock, string) {
	t.Helper()
	c := &clock{time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}
	path := filepath.Join(t.TempDir(), "sessions.json")
	l, err := Open(path, firstUser, c.now)
	if err != nil {
		t.Fatal(err)
	}
	return l, c, path
}

func login(t *testing.T, l *Sessions) *http.Cookie {
	t.Helper()
	token, err := l.NewLink(firstUser)
	if err != nil {
		t.Fatal(err)
	}
	cookie, err := l.Login(token)
	if err != nil {
		t.Fatal(err)
	}
	return cookie
}

func check(l *Sessions, cookie *http.Cookie) error {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.AddCookie(cookie)
	_, err := l.Check(r)
	return err
}

func TestALinkWorksOnce(t *testing.T) {
	l, _, _ := newLocal(t)
	token, err := l.NewLink(firstUser)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Login("guess"); choir.CodeOf(err) != choir.CodeUnauthenticated {
		t.Fatalf("a guess: %v", err)
	}
	if _, err := l.Login(""); choir.CodeOf(err) != choir.CodeUnauthenticated {
		t.Fatalf("nothing: %v", err)
	}
	if _, err := l.Login(token); err != nil {
		t.Fatalf("the link: %v", err)
	}
	if _, err := l.Login(token); choir.CodeOf(err) != choir.CodeUnauthenticated {
		t.Fatalf("the link again: %v", err)
	}
}

// TestALinkDoesNotWaitForEver: one that was found in a journal later let in.
func TestALinkDoesNotWaitForEver(t *testing.T) {
	for late, ok := range map[time.Duration]bool{auth.LinkAge: true, auth.LinkAge + time.Second: false} {
		l, clock, _ := newLocal(t)
		token, err := l.NewLink(firstUser)
		if err != nil {
			t.Fatal(err)
		}
		clock.at = clock.at.Add(late)
		if _, err := l.Login(token); (err == nil) != ok {
			t.Errorf("after %s: %v", late, err)
		}
	}
}

func TestSomebodyIsLoggedIn(t *testing.T) {
	l, clock, path := newLocal(t)
	if l.LoggedIn() {
		t.Error("nobody came yet")
	}
	login(t, l)
	again, err := Open(path, firstUser, clock.now)
	if err != nil {
		t.Fatal(err)
	}
	if !l.LoggedIn() || !again.LoggedIn() {
		t.Error("somebody came, and stays over a restart")
	}
	clock.at = clock.at.Add(auth.SessionIdle + time.Second)
	if l.LoggedIn() || again.LoggedIn() {
		t.Error("the session has ended")
	}
}

func TestANewLinkVoidsTheEarlierOne(t *testing.T) {
	l, _, _ := newLocal(t)
	first, err := l.NewLink(firstUser)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.NewLink(firstUser); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Login(first); choir.CodeOf(err) != choir.CodeUnauthenticated {
		t.Fatalf("got %v", err)
	}
}

func TestTheCookieStaysWithTheShell(t *testing.T) {
	l, _, _ := newLocal(t)
	c := login(t, l)
	if !strings.HasPrefix(c.Name, "__Host-") || !c.Secure || !c.HttpOnly || c.Path != "/" || c.Domain != "" || c.SameSite != http.SameSiteStrictMode {
		t.Fatalf("%+v", c)
	}
}

func TestSessionsEnd(t *testing.T) {
	for _, c := range []struct {
		name  string
		step  time.Duration
		times int
		ends  bool
	}{
		{"used every day", 23 * time.Hour, 6, false},
		{"idle for a day", 25 * time.Hour, 1, true},
		{"a week old", 23 * time.Hour, 8, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, clock, _ := newLocal(t)
			cookie := login(t, l)
			var err error
			for range c.times {
				clock.at = clock.at.Add(c.step)
				err = check(l, cookie)
			}
			if (err != nil) != c.ends {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestLogoutEndsTheSession(t *testing.T) {
	l, _, _ := newLocal(t)
	cookie := login(t, l)
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.AddCookie(cookie)
	p, err := l.Check(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Logout(p); err != nil {
		t.Fatal(err)
	}
	if check(l, cookie) == nil {
		t.Fatal("the session lives on")
	}
}

func TestSessionsSurviveARestartAndNoTokenIsKept(t *testing.T) {
	l, clock, path := newLocal(t)
	cookie := login(t, l)
	again, err := Open(path, firstUser, clock.now)
	if err != nil {
		t.Fatal(err)
	}
	if err := check(again, cookie); err != nil {
		t.Fatalf("after a restart: %v", err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), cookie.Value) {
		t.Fatal("the file holds the session's token")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
}

func TestSessionsDoNotPileUp(t *testing.T) {
	l, clock, path := newLocal(t)
	first := login(t, l)
	for range 2 * maxSessions {
		clock.at = clock.at.Add(time.Second)
		login(t, l)
	}
	if n := len(l.sessions); n > maxSessions {
		t.Fatalf("%d sessions are kept", n)
	}
	if check(l, first) == nil {
		t.Fatal("the idlest session lives on")
	}
	clock.at = clock.at.Add(auth.SessionAge + time.Hour)
	login(t, l)
	if n := len(l.sessions); n != 1 {
		t.Fatalf("%d sessions after all but one ended", n)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 1000 {
		t.Fatalf("the file: %v, %v", info.Size(), err)
	}
}

func TestADamagedFileMeansLoggingInAgain(t *testing.T) {
	for _, damage := range []string{"", "null", "{\"a\":", "[]"} {
		l, clock, path := newLocal(t)
		cookie := login(t, l)
		if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := Open(path, firstUser, clock.now)
		if err != nil {
			t.Fatalf("%q: %v", damage, err)
		}
		if check(again, cookie) == nil {
			t.Fatalf("%q: the session is still known", damage)
		}
		login(t, again)
	}
}

func TestUseIsKeptOverACrash(t *testing.T) {
	l, clock, path := newLocal(t)
	cookie := login(t, l)
	clock.at = clock.at.Add(20 * time.Hour)
	if err := check(l, cookie); err != nil {
		t.Fatal(err)
	}
	clock.at = clock.at.Add(20 * time.Hour)
	again, err := Open(path, firstUser, clock.now) // nothing was saved in order
	if err != nil {
		t.Fatal(err)
	}
	if err := check(again, cookie); err != nil {
		t.Fatalf("used 20 hours ago: %v", err)
	}
}

// TestAPageInItsPlaceGoesOnAfterACrash: the desktop's page was refused by the choir
// that came after, until it was loaded again.
func TestAPageInItsPlaceGoesOnAfterACrash(t *testing.T) {
	l, clock, path := newLocal(t)
	shell := httptest.NewRequest(http.MethodGet, "/", nil)
	shell.AddCookie(login(t, l))
	p, err := l.Check(shell)
	if err != nil {
		t.Fatal(err)
	}
	place := auth.Place{Computer: "01900000-0000-7000-8000-000000000001"}
	ticket, err := l.NewTicket(p, place)
	if err != nil {
		t.Fatal(err)
	}
	page := httptest.NewRequest(http.MethodGet, "/", nil)
	cookie, err := l.RedeemTicket(page, ticket, place)
	if err != nil {
		t.Fatal(err)
	}
	page.AddCookie(cookie)
	again, err := Open(path, firstUser, clock.now) // nothing was saved in order
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.CheckPlace(page, place); err != nil {
		t.Errorf("after a crash: %v", err)
	}
}

func TestManyAtOnce(t *testing.T) {
	l, _, path := newLocal(t)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			token, err := l.NewLink(firstUser)
			if err == nil {
				// Another one's link may have made this one void.
				_, _ = l.Login(token)
				err = l.Save()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	again, err := Open(path, firstUser, l.now)
	if err != nil || len(again.sessions) != len(l.sessions) {
		t.Fatalf("%d of %d sessions are in the file: %v", len(again.sessions), len(l.sessions), err)
	}
}

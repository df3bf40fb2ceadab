package linklogin

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
)

// twoComputers are two computers of one user.
var twoComputers = [2]choir.ID{choir.DeriveID("", "a"), choir.DeriveID("", "b")}

// loginPrincipal logs in and returns the shell session.
func loginPrincipal(t *testing.T, l *Sessions) auth.Principal {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.AddCookie(login(t, l))
	p, err := l.Check(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// openPlace opens a session in a place and returns a request with its cookie.
func openPlace(t *testing.T, l *Sessions, p auth.Principal, place auth.Place) *http.Request {
	t.Helper()
	ticket, err := l.NewTicket(p, place)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	cookie, err := l.RedeemTicket(r, ticket, place)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(cookie)
	return r
}

// TestTheTicketsOfOneComputerKeepNoOtherClosed: a page that asked for tickets and
// redeemed none kept the desktops of all other computers from being opened.
func TestTheTicketsOfOneComputerKeepNoOtherClosed(t *testing.T) {
	l, _, _ := newLocal(t)
	p := loginPrincipal(t, l)
	for port := 1; port <= maxTickets; port++ {
		if _, err := l.NewTicket(p, auth.Place{Computer: twoComputers[0], Port: port}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.NewTicket(p, auth.Place{Computer: twoComputers[0]}); choir.CodeOf(err) != choir.CodeRateLimited {
		t.Errorf("one ticket too many: %v", err)
	}
	if _, err := l.NewTicket(p, auth.Place{Computer: twoComputers[1]}); err != nil {
		t.Errorf("a ticket of the other computer: %v", err)
	}
}

// TestThePreviewsOfOneComputerEndNoSessionOfAnother: a desktop that framed 64 of its
// previews ended the sessions of all other desktops.
func TestThePreviewsOfOneComputerEndNoSessionOfAnother(t *testing.T) {
	l, clock, _ := newLocal(t)
	p := loginPrincipal(t, l)
	place := auth.Place{Computer: twoComputers[1]}
	other := openPlace(t, l, p, place)
	first := auth.Place{Computer: twoComputers[0], Port: 1}
	idlest := openPlace(t, l, p, first)
	for port := 2; port <= maxPlaces+1; port++ {
		clock.at = clock.at.Add(time.Second)
		openPlace(t, l, p, auth.Place{Computer: twoComputers[0], Port: port})
	}
	if _, err := l.CheckPlace(other, place); err != nil {
		t.Errorf("the desktop of the other computer: %v", err)
	}
	if _, err := l.CheckPlace(idlest, first); err == nil {
		t.Error("the idlest preview of the same computer lives on")
	}
	if n := len(l.sessions); n != 1+1+maxPlaces {
		t.Errorf("%d sessions are kept", n)
	}
}

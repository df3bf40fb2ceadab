package api

import (
	"context"
	"net/http"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
)

// Owners returns the users that own computers and the machine.
type Owners interface {
	// User returns the first user of the data folder, who owns the machine's settings.
	User() choir.ID
	// OwnerOf returns the user who owns a computer, also if it could not be opened. Code
	// not_found: no computer has the id.
	OwnerOf(computer choir.ID) (choir.ID, error)
}

// Users opens computers for the time that they are used.
type Users interface {
	// Use opens a computer if it is not open, and keeps it open until release is called. Code
	// unavailable: it could not be opened.
	Use(ctx context.Context, computer choir.ID) (release func(), err error)
}

// ownersAndUsers is the part of the control plane that guard needs.
type ownersAndUsers interface {
	Owners
	Users
}

// MustOwn returns nil if the caller owns the computer. Otherwise it returns code
// not_found, as for an id that no computer has, so that strangers learn nothing about
// it.
func MustOwn(o Owners, p auth.Principal, computer choir.ID) error {
	user, err := o.OwnerOf(computer)
	if err == nil && (p.User == "" || user != p.User) {
		err = choir.Refuse("computer.find", choir.ReasonNoComputer, choir.TextOf("name", computer))
	}
	return err
}

// MustOwnMachine returns nil if the caller is the first user of the data folder, and
// code not_found otherwise.
func MustOwnMachine(o Owners, p auth.Principal) error {
	if p.User != "" && p.User == o.User() {
		return nil
	}
	return choir.Refuse("api", choir.ReasonNothingOfYours)
}

// guard wraps a handler so that it runs only if the caller owns the computer named in
// the path, or, for routes without one, the machine. The computer is open while the
// handler runs; a request of anybody else does not open it. Routes outside /api/ are not
// checked.
func guard(o ownersAndUsers, pattern string, next http.HandlerFunc) http.HandlerFunc {
	if !strings.Contains(pattern, " /api/") {
		return next
	}
	ofComputer := strings.Contains(pattern, "/{computer}")
	return func(w http.ResponseWriter, r *http.Request) {
		p, ok := auth.Of(r.Context())
		var err error
		switch {
		case !ok:
			err = choir.Refuse("api", choir.ReasonNobodyLoggedIn)
		case ofComputer:
			err = MustOwn(o, p, choir.ID(r.PathValue("computer")))
		default:
			err = MustOwnMachine(o, p)
		}
		if err == nil && ofComputer {
			var release func()
			if release, err = o.Use(r.Context(), choir.ID(r.PathValue("computer"))); err == nil {
				defer release()
			}
		}
		if err != nil {
			WriteProblem(w, err)
			return
		}
		next(w, r)
	}
}

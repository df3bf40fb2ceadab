package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/auth"
)

// stubSystem has one computer.
type stubSystem struct {
	api.System
	computer api.Computer
}

func (s stubSystem) Computer(id choir.ID) (api.Computer, error) {
	if id != s.computer.ID {
		return api.Computer{}, choir.E("stub", choir.CodeNotFound, "there is no computer %q", id)
	}
	return s.computer, nil
}

// OwnerOf implements api.Owners.
func (s stubSystem) OwnerOf(id choir.ID) (choir.ID, error) {
	c, err := s.Computer(id)
	return c.User, err
}

// Use implements api.Users.
func (s stubSystem) Use(_ context.Context, id choir.ID) (func(), error) {
	_, err := s.Computer(id)
	return func() {}, err
}

// stubRuns notes what it is prompted.
type stubRuns struct {
	api.Runs
	role choir.Role
	text string
}

func (s *stubRuns) Prompt(_ context.Context, role choir.Role, p choir.PromptSubmitted, _ choir.ID) (choir.ID, choir.Receipt, error) {
	s.role, s.text = role, p.Text
	return "run", choir.Receipt{Seq: 7}, nil
}

// TestARequestNeedsOnlyThePartOfAComputerThatItIsAbout serves a computer that has no other
// part.
func TestARequestNeedsOnlyThePartOfAComputerThatItIsAbout(t *testing.T) {
	t.Parallel()
	id := choir.DeriveID("", "c")
	runs := &stubRuns{}
	a := api.New(stubSystem{computer: api.Computer{ID: id, User: "user", Runs: runs}}, api.Config{PromptBurst: 1, PromptWindow: time.Minute, Now: time.Now})
	prompt := func(computer choir.ID) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/computers/"+string(computer)+"/prompts", strings.NewReader(`{"text":"hello"}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r.WithContext(auth.With(r.Context(), auth.Principal{Role: choir.RoleDesktop, User: "user"})))
		return w
	}
	if w := prompt(id); w.Code != http.StatusAccepted || !strings.Contains(w.Body.String(), `"seq":7`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if runs.role != choir.RoleDesktop || runs.text != "hello" {
		t.Errorf("prompted was %q by the %s", runs.text, runs.role)
	}
	if w := prompt(choir.DeriveID("", "other")); w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

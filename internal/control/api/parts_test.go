package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
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
	err  error
}

func (s *stubRuns) Prompt(_ context.Context, role choir.Role, p choir.PromptSubmitted, _ choir.ID) (choir.ID, choir.Receipt, error) {
	s.role, s.text = role, p.Text
	return "run", choir.Receipt{Seq: 7}, nil
}

func (s *stubRuns) Answer(context.Context, choir.Role, choir.ID, string, string) error { return s.err }
func (s *stubRuns) Dismiss(context.Context, choir.Role, choir.ID) error                { return s.err }

// stubDesk notes which drafts of a card are dropped.
type stubDesk struct {
	api.Desk
	dropped []string
}

func (s *stubDesk) DropCardDrafts(_ context.Context, run choir.ID, apps ...string) error {
	s.dropped = append(s.dropped, string(run)+" "+strings.Join(apps, " "))
	return nil
}

// TestAnAnswerAndACloseDropWhatWasTypedIntoTheCard, whoever answers or closes, and only if
// that was not refused.
func TestAnAnswerAndACloseDropWhatWasTypedIntoTheCard(t *testing.T) {
	t.Parallel()
	id := choir.DeriveID("", "c")
	runs, desk := &stubRuns{}, &stubDesk{}
	a := api.New(stubSystem{computer: api.Computer{ID: id, User: "user", Runs: runs, Desk: desk}}, api.Config{PromptBurst: 1, PromptWindow: time.Minute, Now: time.Now})
	post := func(verb, body string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/computers/"+string(id)+"/runs/r"+verb, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r.WithContext(auth.With(r.Context(), auth.Principal{Role: choir.RoleCLI, User: "user"})))
		return w.Code
	}
	for _, want := range []int{http.StatusAccepted, http.StatusConflict} {
		for verb, body := range map[string]string{"/answers": `{"text":"yes"}`, "/dismiss": "{}"} {
			if got := post(verb, body); got != want {
				t.Errorf("%s: %d, want %d", verb, got, want)
			}
		}
		runs.err = choir.E("", choir.CodeConflict, "no")
	}
	slices.Sort(desk.dropped)
	if want := []string{"r answer", "r reply answer"}; !slices.Equal(desk.dropped, want) {
		t.Errorf("dropped %q, want %q", desk.dropped, want)
	}
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

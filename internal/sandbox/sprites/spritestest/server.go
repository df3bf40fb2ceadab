// Package spritestest is a server that speaks the Sprites API and really runs what it is
// asked to: each of its sprites is a tree of processes on this machine in namespaces of
// its own, made by bubblewrap, in which root has every right, as in a virtual machine.
// What it answers is held to Fly's official client by the test of that client.
package spritestest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Token is the access token that a server takes.
const Token = "sprites-token-0123456789"

// Server is a Sprites service. Make one with New.
type Server struct {
	// URL is the address of the API.
	URL string

	http  *httptest.Server
	ended sync.WaitGroup // the sessions

	mu      sync.Mutex // guards what follows
	sprites map[string]*machine
	most    int // sprites at once; 0 for any number
	user    bool
	made    int
}

// Missing returns why this machine cannot have sprites; empty if it can.
func Missing() string {
	if os.Geteuid() != 0 {
		return "a sprite is made by bubblewrap with the rights of root, and this is an ordinary user"
	}
	for _, name := range []string{"bwrap", "nsenter"} {
		if _, err := exec.LookPath(name); err != nil {
			return name + " is not installed"
		}
	}
	return ""
}

// New starts a server. The caller closes it.
func New() *Server {
	s := &Server{sprites: map[string]*machine{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/sprites", s.create)
	mux.HandleFunc("GET /v1/sprites", s.list)
	mux.HandleFunc("GET /v1/sprites/{name}", s.of(s.show))
	mux.HandleFunc("DELETE /v1/sprites/{name}", s.of(s.remove))
	mux.HandleFunc("GET /v1/sprites/{name}/check", s.of(check))
	mux.HandleFunc("GET /v1/sprites/{name}/policy/network", s.of(showPolicy))
	mux.HandleFunc("POST /v1/sprites/{name}/policy/network", s.of(setPolicy))
	mux.HandleFunc("GET /v1/sprites/{name}/exec", s.of(s.exec))
	mux.HandleFunc("GET /v1/sprites/{name}/exec/{session}", s.of(attach))
	mux.HandleFunc("GET /v1/sprites/{name}/fs/read", s.of(readFile))
	mux.HandleFunc("PUT /v1/sprites/{name}/fs/write", s.of(writeFile))
	mux.HandleFunc("GET /v1/sprites/{name}/fs/list", s.of(listFiles))
	mux.HandleFunc("DELETE /v1/sprites/{name}/fs/delete", s.of(deleteFile))
	mux.HandleFunc("POST /v1/sprites/{name}/fs/rename", s.of(renameFile))
	mux.HandleFunc("POST /v1/sprites/{name}/fs/chmod", s.of(chmodFile))
	s.http = httptest.NewServer(authorized(mux))
	s.URL = s.http.URL
	return s
}

// authorized refuses requests without the token.
func authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+Token {
			refuse(w, http.StatusUnauthorized, "unauthorized", "the token is not valid")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Close ends every sprite and the server.
func (s *Server) Close() {
	for _, name := range s.Sprites() {
		if m := s.detach(name); m != nil {
			m.killAll()
		}
	}
	s.ended.Wait()
	s.http.CloseClientConnections()
	s.http.Close()
}

// Allow makes the server refuse to have more sprites than most.
func (s *Server) Allow(most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = most
}

// RunAsUser makes new sprites run programs as an ordinary user, who may become root by sudo
// without a password. The file API stays root's.
func (s *Server) RunAsUser() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user = true
}

// Sprites returns the names of the sprites that there are.
func (s *Server) Sprites() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.sprites {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Made returns how many sprites were made so far.
func (s *Server) Made() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made
}

// Policy returns the network policy of a sprite as it was set; empty for none.
func (s *Server) Policy(name string) string {
	m := s.find(name)
	if m == nil {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return string(m.policy)
}

// Cut breaks the connections of all programs of a sprite, which go on.
func (s *Server) Cut(name string) {
	if m := s.find(name); m != nil {
		m.cut()
	}
}

// End ends a sprite without a request of its maker.
func (s *Server) End(name string) {
	if m := s.detach(name); m != nil {
		m.killAll()
	}
}

func (s *Server) find(name string) *machine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sprites[name]
}

// detach removes a sprite from the list and returns it; nil if there is none.
func (s *Server) detach(name string) *machine {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.sprites[name]
	delete(s.sprites, name)
	return m
}

// of returns a handler that finds the sprite in the path.
func (s *Server) of(serve func(http.ResponseWriter, *http.Request, *machine)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m := s.find(r.PathValue("name"))
		if m == nil {
			refuse(w, http.StatusNotFound, "not_found", "sprite not found")
			return
		}
		serve(w, r, m)
	}
}

// validName matches the names that a sprite may have: each is a part of a host name.
var validName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Name   string          `json:"name"`
		Config json.RawMessage `json:"config"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || !validName.MatchString(asked.Name) {
		refuse(w, http.StatusBadRequest, "invalid_name", "the name is not valid")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.sprites[asked.Name] != nil:
		refuse(w, http.StatusConflict, "name_taken", "there is a sprite of that name")
		return
	case s.most > 0 && len(s.sprites) >= s.most:
		answer(w, http.StatusTooManyRequests, tooManySprites{"concurrent_sprite_limit_exceeded", "too many sprites", s.most, len(s.sprites)})
		return
	}
	m, err := newMachine(asked.Name, asked.Config)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "internal", err.Error())
		return
	}
	m.user = s.user
	s.made++
	s.sprites[asked.Name] = m
	answer(w, http.StatusCreated, m.info())
}

func (s *Server) show(w http.ResponseWriter, _ *http.Request, m *machine) {
	answer(w, http.StatusOK, m.info())
}

func (s *Server) remove(w http.ResponseWriter, _ *http.Request, m *machine) {
	if taken := s.detach(m.name); taken != nil {
		taken.killAll()
	}
	w.WriteHeader(http.StatusNoContent)
}

// list answers with the sprites from the continuation token on, which is the name of the
// first.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	most, err := strconv.Atoi(cmp.Or(query.Get("max_results"), "50"))
	if err != nil || most < 1 {
		refuse(w, http.StatusBadRequest, "invalid", "max_results is no number")
		return
	}
	infos := []spriteInfo{}
	next := ""
	for _, name := range s.Sprites() {
		m := s.find(name)
		switch {
		case m == nil || !strings.HasPrefix(name, query.Get("prefix")) || name < query.Get("continuation_token"):
		case len(infos) == min(most, 50):
			next = cmp.Or(next, name)
		default:
			infos = append(infos, m.info())
		}
	}
	answer(w, http.StatusOK, spritePage{Sprites: infos, More: next != "", Next: next, Running: len(infos), Name: "test"})
}

func check(w http.ResponseWriter, _ *http.Request, m *machine) {
	answer(w, http.StatusOK, spriteCheck{m.name, m.name, "ok", time.Now()})
}

// policy is a network policy.
type policy struct {
	Rules []struct {
		Domain  string `json:"domain,omitempty"`
		Action  string `json:"action,omitempty"`
		Include string `json:"include,omitempty"`
	} `json:"rules"`
}

func setPolicy(w http.ResponseWriter, r *http.Request, m *machine) {
	var p policy
	if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
		refuse(w, http.StatusBadRequest, "invalid", err.Error())
		return
	}
	for _, rule := range p.Rules {
		if (rule.Include == "") == (rule.Domain == "") || rule.Domain != "" && rule.Action != "allow" && rule.Action != "deny" {
			refuse(w, http.StatusBadRequest, "invalid", "a rule has a domain and an action, or an include")
			return
		}
	}
	raw, err := json.Marshal(p)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "internal", err.Error())
		return
	}
	m.mu.Lock()
	m.policy = raw
	m.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func showPolicy(w http.ResponseWriter, _ *http.Request, m *machine) {
	m.mu.Lock()
	defer m.mu.Unlock()
	answer(w, http.StatusOK, json.RawMessage(cmp.Or(string(m.policy), `{"rules":[]}`)))
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body) // the client may be gone
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	answer(w, status, map[string]string{"error": code, "message": message})
}

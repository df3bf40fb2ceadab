package auth

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/durablefile"
)

// ScrapeToken is the token that only permits reading /metrics. There is at most one, of
// which only the hash is stored.
type ScrapeToken struct {
	path string
	now  func() time.Time

	mu   sync.Mutex // guards kept, and is held while the file is written
	kept scrapeHash
}

// scrapeHash is the content of the token's file.
type scrapeHash struct {
	Hash string    `json:"hash"`
	Made time.Time `json:"made"`
}

// OpenScrapeToken reads the hash stored at path. A missing or damaged file means that
// there is no token.
func OpenScrapeToken(path string, now func() time.Time) (*ScrapeToken, error) {
	s := &ScrapeToken{path: path, now: now}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, choir.Wrap("auth.scrape", choir.CodeUnavailable, err, "read the token of the metrics in %s", path)
	}
	if json.Unmarshal(raw, &s.kept) != nil {
		s.kept = scrapeHash{}
	}
	return s, nil
}

// Renew creates a token, which replaces the previous one, and returns it; it cannot be
// read again.
func (s *ScrapeToken) Renew() (string, error) {
	token, err := NewToken()
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := scrapeHash{Hash: HashOf(token), Made: s.now()}
	raw, err := json.Marshal(next)
	if err != nil {
		return "", choir.Wrap("auth.scrape", choir.CodeInternal, err, "encode the token of the metrics")
	}
	if err := durablefile.Write(s.path, raw); err != nil && !errors.Is(err, durablefile.ErrReplaced) {
		return "", choir.Wrap("auth.scrape", choir.CodeUnavailable, err, "keep the token of the metrics in %s", s.path)
	}
	s.kept = next
	return token, nil
}

// Remove invalidates the token and removes its file.
func (s *ScrapeToken) Remove() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = scrapeHash{}
	return choir.Wrap("auth.scrape", choir.CodeUnavailable, durablefile.Remove(s.path), "remove the token of the metrics in %s", s.path)
}

// Check returns nil if a request has the token as its bearer token, and code
// unauthenticated otherwise.
func (s *ScrapeToken) Check(r *http.Request) error {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	s.mu.Lock()
	want := s.kept.Hash
	s.mu.Unlock()
	given := HashOf(token)
	if want != "" && strings.EqualFold(scheme, "Bearer") && token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1 {
		return nil
	}
	return choir.Refuse("auth.scrape", choir.ReasonMetricsToken)
}

package auth

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
)

func openScrape(t *testing.T, path string) *ScrapeToken {
	t.Helper()
	s, err := OpenScrapeToken(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func scrape(s *ScrapeToken, header string) choir.Code {
	r := httptest.NewRequest(http.MethodGet, "/metrics?token="+url.QueryEscape(strings.TrimPrefix(header, "Bearer ")), nil)
	if header != "" {
		r.Header.Set("Authorization", header)
	}
	return choir.CodeOf(s.Check(r))
}

func TestTheMetricsTakeOneTokenThatIsKeptAsAHash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "metrics.json")
	s := openScrape(t, path)
	for _, header := range []string{"", "Bearer ", "Bearer x", "Bearer e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"} {
		if scrape(s, header) != choir.CodeUnauthenticated {
			t.Errorf("without a token %q is let in", header)
		}
	}
	first, err := s.Renew()
	if err != nil || scrape(s, "Bearer "+first) != "" || scrape(s, "bearer "+first) != "" {
		t.Fatalf("its own token: %v", err)
	}
	for _, header := range []string{"", first, "Basic " + first, "Bearer " + first + "x", "Bearer  " + first, "Bearer " + HashOf(first)} {
		if scrape(s, header) != choir.CodeUnauthenticated {
			t.Errorf("%q is let in", header)
		}
	}
	raw, err := os.ReadFile(path)
	info, statErr := os.Stat(path)
	if err != nil || statErr != nil || strings.Contains(string(raw), first) || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %s %s %v", info.Mode(), raw, err)
	}
	s = openScrape(t, path)
	second, err := s.Renew()
	if err != nil || scrape(s, "Bearer "+second) != "" || scrape(s, "Bearer "+first) != choir.CodeUnauthenticated {
		t.Errorf("after a restart and a new token: %v", err)
	}
	if err := s.Remove(); err != nil || scrape(s, "Bearer "+second) != choir.CodeUnauthenticated || scrape(openScrape(t, path), "Bearer "+second) != choir.CodeUnauthenticated {
		t.Errorf("a removed token: %v", err)
	}
}

func TestADamagedFileOfTheMetricsLetsNobodyIn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "metrics.json")
	for _, content := range []string{"", "{", "null", `{"hash":""}`, `{"hash":7}`} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		s := openScrape(t, path)
		for _, header := range []string{"", "Bearer ", "Bearer x"} {
			if scrape(s, header) != choir.CodeUnauthenticated {
				t.Errorf("%q lets %q in", content, header)
			}
		}
	}
}

package linklogin

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSessionsOfAnEarlierChoirGoOn reads files of sessions that earlier builds
// wrote. A flipped bit in what names a session ends that session.
func TestSessionsOfAnEarlierChoirGoOn(t *testing.T) {
	kept, err := filepath.Glob("../../../../test/fixtures/*/sessions.json")
	if err != nil || len(kept) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, path := range kept {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		named, err := os.ReadFile(filepath.Join(filepath.Dir(path), "sessions.cookie"))
		if err != nil {
			t.Fatal(err)
		}
		name, value, _ := strings.Cut(strings.TrimSpace(string(named)), "=")
		cookie := &http.Cookie{Name: name, Value: value}
		_, began, _ := strings.Cut(string(raw), `"started":"`)
		at, err := time.Parse(time.RFC3339Nano, began[:strings.IndexByte(began, '"')])
		if err != nil {
			t.Fatal(err)
		}
		if err := check(opened(t, raw, at), cookie); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for i := strings.IndexByte(string(raw), '"') + 1; raw[i] != '"'; i++ {
			raw[i] ^= 1
			if check(opened(t, raw, at), cookie) == nil {
				t.Errorf("%s: the session is known with byte %d flipped", path, i)
			}
			raw[i] ^= 1
		}
	}
}

// opened are the sessions of a file, a minute later.
func opened(t *testing.T, raw []byte, at time.Time) *Sessions {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(path, firstUser, (&clock{at.Add(time.Minute)}).now)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

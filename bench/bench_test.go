package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"choiros/internal/choir"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quickly runs benchmarks with few samples and gives their rows; the scratch
// folder must be gone afterwards.
func quickly(ctx context.Context, t *testing.T, names ...string) ([]Row, bool) {
	t.Helper()
	dir, err := os.MkdirTemp("", "choir-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	met, err := Run(ctx, Options{Names: names, Quick: true, JSON: true, Out: &out, Dir: dir, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	var rows []Row
	for line := range strings.Lines(out.String()) {
		var r Row
		if err := choir.DecodeStrict([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows, met
}

// TestQuickRows runs benchmarks for real and asks no speed of them.
func TestQuickRows(t *testing.T) {
	for name, cases := range map[string][]string{
		"append":   {"1 writer", "16 writers", "64 writers", "64 writers, latency", "64 writers, journal only"},
		"snapshot": {"1,000 files", "10,000 files", "100,000 files"},
		"log-size": {"20,000 events, open", "20,000 events, 1 writer", "20,000 events, 64 writers"},
		"replay":   {"1,500 events", "1,000,000 events"},
		"toolcall": {"1,000 files, one changed", "1,000 files, none changed"},
		"model": {"first token", "first token, added", "first token beside 20 streams", "first token beside 20 streams, added",
			"prompt cache hits, director", "prompt cache hits, associate"},
		"rewind": {"100 of 1,000 files"},
		"desk":   {"windows", "settings", "documents", "a folder's listing", "GET of a changed file"},
	} {
		t.Run(name, func(t *testing.T) {
			rows, met := quickly(t.Context(), t, name)
			byCase := map[string]Row{}
			for _, r := range rows {
				byCase[r.Case] = r
				if r.Bench != name || r.Host.Cores == 0 || r.Versions.Choir != "test" {
					t.Errorf("%+v", r)
				}
				// A difference has no ratio, and may be below zero.
				if difference := strings.HasSuffix(r.Case, ", added"); r.N > 0 && (!difference && (r.Median <= 0 || r.Ratio == nil) || r.Failures > 0) {
					t.Errorf("%+v", r)
				}
				if r.N == 0 && (r.Skipped == "" || r.Met != nil) {
					t.Errorf("%+v", r)
				}
				if r.Met != nil && !*r.Met && met {
					t.Errorf("%s was missed and the run says met", r.Case)
				}
			}
			for _, c := range cases {
				if _, ok := byCase[c]; !ok {
					t.Errorf("no row %q", c)
				}
			}
		})
	}
}

// TestWithoutABrowserRowsSayWhy runs far from the repository, whose program
// drives the browser.
func TestWithoutABrowserRowsSayWhy(t *testing.T) {
	t.Chdir(t.TempDir())
	rows, met := quickly(t.Context(), t, "deliver", "desktop")
	if len(rows) != 11 || !met {
		t.Errorf("%d rows, met %t", len(rows), met)
	}
	for _, r := range rows {
		if r.Skipped == "" || r.N != 0 || r.Met != nil || r.Target == nil && r.Case != besideRaw {
			t.Errorf("%+v", r)
		}
	}
}

func TestNamesAreChecked(t *testing.T) {
	if _, err := Run(t.Context(), Options{Names: []string{"nothing"}}); choir.CodeOf(err) != choir.CodeInvalid {
		t.Error(err)
	}
}

// TestStopping ends a run at once and leaves nothing behind.
func TestStopping(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	var out bytes.Buffer
	_, err := Run(ctx, Options{Names: []string{"append"}, JSON: true, Out: &out, Dir: dir})
	if choir.CodeOf(err) != choir.CodeCancelled {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestTheWorkIsTheSameForTheSameNumbers lets ours and the peer see one load.
func TestTheWorkIsTheSameForTheSameNumbers(t *testing.T) {
	whole, err := events(0, 100)
	if err != nil {
		t.Fatal(err)
	}
	part, err := events(40, 60)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(whole[40:])
	b, _ := json.Marshal(part)
	if !bytes.Equal(a, b) {
		t.Error("events from 40 on differ from the tail of those from 0 on")
	}
	ids := map[choir.ID]bool{}
	for _, w := range whole {
		ids[w.Draft.ID] = true
	}
	if len(ids) != len(whole) {
		t.Errorf("%d ids in %d events", len(ids), len(whole))
	}
}

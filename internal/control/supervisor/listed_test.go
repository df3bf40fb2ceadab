package supervisor_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/controltest"
)

// TestTheOwnerTakesAHostOfTheListAway takes a host away while a task downloads from it, and puts it
// back: the download is cut, the host is refused and asked for, a start remembers it, and the list
// of choir.toml comes first.
func TestTheOwnerTakesAHostOfTheListAway(t *testing.T) {
	const host, url = "deb.debian.org", "http://deb.debian.org/"
	n := newInternet(t)
	begun := make(chan struct{}, 1)
	n.mux.HandleFunc(host+"/", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "packages")
		if r.URL.Path == "/endless" {
			_ = http.NewResponseController(w).Flush()
			begun <- struct{}{}
			<-r.Context().Done()
		}
	})
	data, file := newData(t), filepath.Join(t.TempDir(), "choir.toml")
	load := func() (config.Config, string, error) { return loadChosen(file, data) }
	start := func(t *testing.T, text string) *controltest.Plane {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg := controltest.Config(t, data)
		var err error
		if cfg.File, cfg.From, err = load(); err != nil {
			t.Fatal(err)
		}
		cfg.Outside, cfg.Reread = n.outside(), load
		p := controltest.StartWith(t, cfg)
		openAll(t, p)
		return p
	}
	const ask = "curl -sS -o /dev/null -w '%{http_code}' " + url
	answers := func(t *testing.T, p *controltest.Plane) string {
		t.Helper()
		_, r := executeTask(t, p, nil, ask)
		if len(r.CommandsRun) != 1 {
			t.Fatal(r.Summary)
		}
		return r.CommandsRun[0].StdoutTail
	}

	t.Run("taken away", func(t *testing.T) {
		p := start(t, "[egress]\nmode = \"git+pkg\"\n")
		parts, _ := partsOfOnly(t, p)
		if got := answers(t, p); got != "200" {
			t.Fatalf("before, %s answers %s", host, got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), controltest.Patience)
		defer cancel()
		took := make(chan error, 1)
		go func() {
			select {
			case <-begun:
				_, err := p.System.ChooseListed(ctx, host, false)
				took <- err
			case <-ctx.Done():
				took <- ctx.Err()
			}
		}()
		task, _ := executeTask(t, p, nil, "curl -sS --max-time 100 -o /dev/null "+url+"endless")
		if err := <-took; err != nil {
			t.Fatal(err)
		}
		if passed := passages(t, p, task); len(passed) != 1 || passed[0].Cut != "policy" {
			t.Errorf("what was open: %+v", passed)
		}
		if got := answers(t, p); got != "403" {
			t.Errorf("taken away, %s answers %s", host, got)
		}
		reach := parts.Reach()
		for _, r := range reach.Rules {
			if r.Host == host {
				t.Errorf("it is listed as let out: %+v", r)
			}
		}
		if !slices.Equal(reach.Away, []string{host}) || reach.AwayInFile {
			t.Errorf("%+v", reach)
		}
		if l, err := p.Computers()[0].Grants().List(t.Context()); err != nil || len(l.Requests) != 1 || l.Requests[0].Host != host {
			t.Errorf("nobody is asked: %+v %v", l, err)
		}
		for _, given := range []string{"outside.test", "", "DEB.debian.org", "*.debian.org"} {
			if _, err := p.System.ChooseListed(t.Context(), given, false); choir.CodeOf(err) != choir.CodeInvalid {
				t.Errorf("%q, which is not listed: %v", given, err)
			}
		}
	})
	t.Run("after a start", func(t *testing.T) {
		p := start(t, "[egress]\nmode = \"git+pkg\"\n")
		if got := answers(t, p); got != "403" {
			t.Errorf("after a start %s answers %s", host, got)
		}
		if _, err := p.System.ChooseListed(t.Context(), host, true); err != nil {
			t.Fatal(err)
		}
		if got := answers(t, p); got != "200" {
			t.Errorf("put back, %s answers %s", host, got)
		}
	})
	t.Run("in the file", func(t *testing.T) {
		p := start(t, "[egress]\nmode = \"git+pkg\"\nwithout = [\""+host+"\"]\n")
		if got := answers(t, p); got != "403" {
			t.Errorf("without it in the file %s answers %s", host, got)
		}
		if _, err := p.System.ChooseListed(t.Context(), host, true); choir.CodeOf(err) != choir.CodeConflict || !strings.Contains(err.Error(), file) {
			t.Errorf("a choice against the file: %v", err)
		}
		if err := os.WriteFile(file, []byte("[egress]\nwithout = [\"outside.test\"]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := load(); choir.CodeOf(err) != choir.CodeInvalid || !strings.Contains(err.Error(), "egress.without[0]") {
			t.Errorf("a host that is not listed, in the file: %v", err)
		}
	})
}

// TestAChosenHostThatIsListedNoMore reads a choice about a host that only another version's list has.
func TestAChosenHostThatIsListedNoMore(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, config.NetworkFile), []byte("without = [\"gone.test\", \"github.com\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := loadChosen("", data)
	if err != nil || !slices.Equal(c.Egress.Without, []string{"github.com"}) {
		t.Errorf("%v %v", c.Egress.Without, err)
	}
}

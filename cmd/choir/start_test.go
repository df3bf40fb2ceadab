package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// startLimit is how long a start may take on a machine that does nothing else.
const startLimit = 1500 * time.Millisecond

// TestStartingIsQuick measures starts on fresh data folders to a served page. The
// fastest of a few has to be within the limit; a machine where more processes
// want to run than it has cores gets that many times as long.
func TestStartingIsQuick(t *testing.T) {
	fastest := time.Hour
	for range 5 {
		m := newMachine(t, "")
		began := time.Now()
		r := m.up()
		page := r.page()
		took := time.Since(began)
		fastest = min(fastest, took)
		limit := time.Duration(float64(startLimit) * max(1, load(t)/float64(runtime.NumCPU())))
		t.Logf("from choir up to a served page of %d bytes: %v (limit %v)", len(page), took.Round(time.Millisecond), limit.Round(time.Millisecond))
		r.stop()
		if took <= limit {
			return
		}
	}
	t.Errorf("the fastest start took %v", fastest)
}

// load is how many processes wanted to run in the last minute.
func load(t *testing.T) (n float64) {
	t.Helper()
	raw, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		_, err = fmt.Sscan(string(raw), &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// page is the shell's first page, as a browser asks for it.
func (r *running) page() string {
	r.m.t.Helper()
	host := strings.TrimPrefix(r.Address, "http://")
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		r.m.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(r.m.t.Context(), http.MethodGet, "http://127.0.0.1:"+port+"/", nil)
	if err != nil {
		r.m.t.Fatal(err)
	}
	req.Host = host
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.m.t.Fatal(err)
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(page), "<html") {
		r.m.t.Fatalf("%s, %v: %.300s", res.Status, err, page)
	}
	return string(page)
}

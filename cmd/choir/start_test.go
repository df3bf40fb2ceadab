package main

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestStartingIsQuick measures a start on a fresh data folder to a served page.
// The target is 1.5 s; a loaded machine gets more.
func TestStartingIsQuick(t *testing.T) {
	m := newMachine(t, "")
	began := time.Now()
	r := m.up()
	page := r.page()
	took := time.Since(began)
	t.Logf("from choir up to a served page of %d bytes: %v (target 1.5 s)", len(page), took.Round(time.Millisecond))
	if took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
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

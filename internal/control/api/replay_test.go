package api

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
)

// TestACallUnderWayIsNotForgotten sends more calls than are remembered while one is
// under way, and then that one again: it must not run a second time.
func TestACallUnderWayIsNotForgotten(t *testing.T) {
	t.Parallel()
	var rs replays
	var slow atomic.Int64
	begun, release := make(chan struct{}), make(chan struct{})
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			if slow.Add(1) == 1 {
				close(begun)
			}
			<-release
		}
		w.WriteHeader(http.StatusAccepted)
	})
	post := func(path, key string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader("{}"))
		r.Header.Set("Idempotency-Key", key)
		w := httptest.NewRecorder()
		rs.serve(w, r.WithContext(auth.With(r.Context(), auth.Principal{Role: choir.RoleShell})), next)
		return w
	}
	answers := make(chan *httptest.ResponseRecorder, 2)
	go func() { answers <- post("/slow", "first") }()
	<-begun
	for i := range maxReplays + 10 {
		post("/fast", strconv.Itoa(i))
	}
	if n := len(rs.order); n != maxReplays || len(rs.all) != n {
		t.Errorf("%d and %d calls are remembered", n, len(rs.all))
	}
	go func() { answers <- post("/slow", "first") }()
	close(release)
	for range 2 {
		if a := <-answers; a.Code != http.StatusAccepted {
			t.Errorf("status %d", a.Code)
		}
	}
	if n := slow.Load(); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}

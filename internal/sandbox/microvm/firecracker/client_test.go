package firecracker

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clientOf returns a client of a server that answers every request with a status and a text.
func clientOf(t *testing.T, status int, text string) *Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		w.Write([]byte(text))
	}))
	c := NewClient(func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", s.Listener.Addr().String())
	})
	t.Cleanup(func() {
		c.Close()
		s.Close()
	})
	return c
}

// TestARefusalHasItsReason checks that the words of a refusal are in the error, whatever form
// they have.
func TestARefusalHasItsReason(t *testing.T) {
	for text, want := range map[string]string{
		`{"fault_message":"Vsock config error: bad path"}`: "Firecracker refuses PUT /vsock: Vsock config error: bad path",
		`{"fault_message":""}`:                             "PUT /vsock: Bad Request",
		"no JSON":                                          "PUT /vsock: Bad Request no JSON",
	} {
		err := clientOf(t, http.StatusBadRequest, text).SetVsock(t.Context(), Vsock{CID: 3, Path: "v.sock"})
		var f *Fault
		if choir.CodeOf(err) != choir.CodeUnavailable || !errors.As(err, &f) || f.Status != http.StatusBadRequest || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	if v, err := clientOf(t, http.StatusOK, `{"firecracker_version":"1.16.1"}`).Version(t.Context()); v != "1.16.1" || err != nil {
		t.Errorf("version %q, %v", v, err)
	}
	i, err := clientOf(t, http.StatusOK, `{"id":"x","state":"Not started","vmm_version":"1.16.1","app_name":"Firecracker"}`).Info(t.Context())
	if err != nil || i.State != "Not started" || i.ID != "x" {
		t.Errorf("%+v, %v", i, err)
	}
	if _, err := clientOf(t, http.StatusOK, "no JSON").Info(t.Context()); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("an answer that is no JSON: %v", err)
	}
}

// TestNoAnswerNamesTheRequest asks a process that is not there.
func TestNoAnswerNamesTheRequest(t *testing.T) {
	c := NewClient(func(context.Context) (net.Conn, error) { return nil, errors.New("nobody is there") })
	err := c.Act(t.Context(), SendCtrlAltDel)
	if choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "does not answer PUT /actions") || !strings.Contains(err.Error(), "nobody is there") {
		t.Errorf("got %v", err)
	}
}

func TestVersions(t *testing.T) {
	dir := t.TempDir()
	program := func(text string) string {
		path := filepath.Join(dir, "program")
		if err := os.WriteFile(path, []byte("#!/bin/sh\nprintf '"+text+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for text, want := range map[string]Version{
		`Firecracker v1.16.1\n\nmore v2.0.0`: {1, 16, 1}, `Jailer v1.17.0-dev\n`: {1, 17, 0}, `Firecracker v1.11.0`: {1, 11, 0}, `Firecracker v2.0.0`: {2, 0, 0},
	} {
		if got, err := VersionOf(t.Context(), program(text)); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{``, `Firecracker`, `Firecracker v1`, `Firecracker v1.x.0`, `Firecracker v1.10.9`, `Firecracker v0.25.0`} {
		if got, err := VersionOf(t.Context(), program(text)); choir.CodeOf(err) != choir.CodeUnavailable {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

package sandboxtest

import (
	"context"
	"io"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// wantVerdict fails the test if the error of Recover has another verdict.
func wantVerdict(t *testing.T, want sandbox.Verdict, err error) {
	t.Helper()
	if got := sandbox.VerdictOf(err); got != want {
		t.Errorf("recover says %s, wanted %s: %v", got, want, err)
	}
}

// unknown checks that Recover gives the verdict Unknown or NotMine where it cannot look,
// and that the sandbox lives on each time.
func (s suite) unknown(t *testing.T) {
	setup := Setup{StateDir: DataDir(t)}
	spec := s.spec(t, choir.RoleAssociate)
	d := s.newDriver(t, setup)
	b, err := d.Create(timeout(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	h := b.Handle()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Recover(ended, h); err != nil { // a driver may not look at the context
		wantVerdict(t, sandbox.Unknown, err)
	}
	if closer, ok := d.(io.Closer); ok {
		closeDriver(t, d)
		_, err := d.Recover(timeout(t), h)
		wantVerdict(t, sandbox.Unknown, err)
		if closer.Close() != nil {
			t.Error("a second close failed")
		}
		d = s.newDriver(t, setup)
		defer closeDriver(t, d)
	}
	// What is not this driver's is so whatever else it says.
	foreign := h
	foreign.Version += 1000
	_, err = d.Recover(timeout(t), foreign)
	wantVerdict(t, sandbox.NotMine, err)
	found, err := d.Recover(timeout(t), h)
	if err != nil {
		t.Fatalf("it was ended by a question: %v", err)
	}
	destroy(t, found)
	nothingLeft(t, spec)
	_, err = d.Recover(timeout(t), h)
	wantVerdict(t, sandbox.Gone, err)
}

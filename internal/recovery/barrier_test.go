package recovery

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"choiros/internal/choir"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func nothing(context.Context) error { return nil }

func mustEnter(t *testing.T, b *Barrier) {
	t.Helper()
	if err := b.AdmitAppend(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// TestTheBarrierHoldsAppendsBackAndDrains: a repair waits for the append under
// way, later appends wait for the repair, and the copy is drained in between.
func TestTheBarrierHoldsAppendsBackAndDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var steps []string
		step := func(s string) { steps = append(steps, s) }
		b := NewBarrier(func(context.Context) error { step("drained"); return nil })
		mustEnter(t, b)
		mended := make(chan error, 1)
		go func() {
			mended <- b.Alone(context.Background(), Repair, func(context.Context) error { step("repaired"); return nil })
		}()
		synctest.Wait()
		appended := make(chan error, 1)
		go func() {
			err := b.AdmitAppend(context.Background())
			step("appended")
			b.ReleaseAppend()
			appended <- err
		}()
		synctest.Wait()
		if len(steps) > 0 {
			t.Fatalf("%v beside an append", steps)
		}
		b.ReleaseAppend()
		if err := errors.Join(<-mended, <-appended); err != nil {
			t.Fatal(err)
		}
		if want := "drained repaired appended"; want != strings.Join(steps, " ") {
			t.Errorf("%v, wanted %s", steps, want)
		}
	})
}

// TestTheBarrierBoundsAnAppendByItsContext: it is refused and holds nothing.
func TestTheBarrierBoundsAnAppendByItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBarrier(nothing)
		ctx, cancel := context.WithCancel(context.Background())
		err := b.Alone(context.Background(), Repair, func(context.Context) error {
			refused := make(chan error, 1)
			go func() { refused <- b.AdmitAppend(ctx) }()
			synctest.Wait()
			cancel()
			if err := <-refused; choir.CodeOf(err) != choir.CodeCancelled {
				t.Errorf("got %v", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		mustEnter(t, b)
		b.ReleaseAppend()
	})
}

// TestTheBarrierLetsReadersRunBesideAppends: and keeps a repair from them, which
// holds no append back until it may begin.
func TestTheBarrierLetsReadersRunBesideAppends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBarrier(nothing)
		mended := make(chan error, 1)
		began := false
		err := b.Beside(context.Background(), Verify, func(context.Context) error {
			go func() {
				mended <- b.Alone(context.Background(), Repair, func(context.Context) error { began = true; return nil })
			}()
			synctest.Wait()
			mustEnter(t, b)
			b.ReleaseAppend()
			if began {
				t.Error("a repair runs beside a reader")
			}
			return nil
		})
		if err := errors.Join(err, <-mended); err != nil || !began {
			t.Errorf("began %v: %v", began, err)
		}
	})
}

// TestTheBarrierIsSoundAfterAFailedDrain: nothing was repaired and all go on.
func TestTheBarrierIsSoundAfterAFailedDrain(t *testing.T) {
	full := choir.E("test", choir.CodeNoSpace, "full")
	b := NewBarrier(func(context.Context) error { return full })
	err := b.Alone(context.Background(), Repair, func(context.Context) error { t.Error("repaired"); return nil })
	if !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	mustEnter(t, b)
	b.ReleaseAppend()
}

// TestTheBarrierStopsMaintenanceWhenClosed: what is under way is cancelled and
// waited for, what comes later is refused.
func TestTheBarrierStopsMaintenanceWhenClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBarrier(nothing)
		ended := make(chan error, 1)
		go func() {
			ended <- b.Beside(context.Background(), Verify, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		}()
		synctest.Wait()
		b.Close()
		b.Close()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		for _, err := range []error{b.Beside(context.Background(), Export, nothing), b.Alone(context.Background(), Remake, nothing)} {
			if choir.CodeOf(err) != choir.CodeUnavailable {
				t.Errorf("got %v", err)
			}
		}
	})
}

package guest

import (
	"testing"
	"testing/synctest"
	"time"

	"choiros/internal/choir"
)

// TestNobodyIsAttachedToASandboxThatEnds attaches in the moment in which the patience ends: either
// the sandbox goes on, or the control plane is told that it ends.
func TestNobodyIsAttachedToASandboxThatEnds(t *testing.T) {
	t.Parallel()
	refused, attached := 0, 0
	for range 2000 {
		synctest.Test(t, func(t *testing.T) {
			p := newPresence(time.Second)
			ended := make(chan error, 1)
			go func() { ended <- p.wait(t.Context()) }()
			time.Sleep(time.Second)
			ch, err := p.join()
			synctest.Wait()
			select {
			case why := <-ended:
				wantCode(t, why, choir.CodeTimeout)
				wantCode(t, err, choir.CodeUnavailable)
				refused++
				return
			default:
			}
			if err != nil {
				t.Fatal(err)
			}
			attached++
			time.Sleep(time.Minute)
			p.leave(ch)
			wantCode(t, <-ended, choir.CodeTimeout)
		})
	}
	t.Logf("refused %d times, attached %d times", refused, attached)
}

//go:build lockorder

package lockorder

import (
	"strings"
	"testing"
)

// refused gives what fn panics with.
func refused(t *testing.T, fn func()) (said string) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			said = r.(string)
		}
	}()
	fn()
	t.Error("an acquisition against the order is not seen")
	return ""
}

func TestAnAcquisitionAgainstTheOrderPanics(t *testing.T) {
	var write Mutex[WriteMu]
	var conn, other Mutex[ConnMu]
	write.Lock()
	conn.Lock()
	conn.Unlock()
	write.Unlock()
	conn.Lock()
	for name, fn := range map[string]func(){
		"Journal.writeMu": write.Lock, "applier.connMu": other.Lock, "Barrier.appends": Acquire[Appends], "pool.slots": Await[PoolSlots],
	} {
		if said := refused(t, fn); !strings.Contains(said, "holds applier.connMu and acquires "+name) {
			t.Errorf("%s: %q", name, said)
		}
	}
	conn.Unlock()
	refused(t, conn.Unlock)
}

func TestAnotherGoroutineHasItsOwnOrder(t *testing.T) {
	var write Mutex[WriteMu]
	var conn Mutex[ConnMu]
	conn.Lock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		write.Lock()
		write.Unlock()
	}()
	<-done
	conn.Unlock()
}

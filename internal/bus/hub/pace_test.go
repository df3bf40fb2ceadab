package hub_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"choiros/internal/bus/hub"
)

func TestAFloodFromOutsideIsPaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const sent = 80 << 20
		start := time.Now()
		n, err := io.Copy(io.Discard, hub.Paced(t.Context(), strings.NewReader(strings.Repeat("x", sent))))
		if err != nil || n != sent {
			t.Fatalf("%d bytes, %v", n, err)
		}
		// 16 MiB at once, the rest at 16 MiB a second.
		if took := time.Since(start); took < 3900*time.Millisecond || took > 4100*time.Millisecond {
			t.Errorf("it took %s, want 4 s", took)
		}
	})
}

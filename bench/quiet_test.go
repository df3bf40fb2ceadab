package bench

import (
	"math"
	"testing"
)

func TestBusyShare(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		want                float64
	}{
		{"idle", "cpu  10 0 10 100 0 0 0 0 0 0\ncpu0 1", "cpu  10 0 10 300 0 0 0 0 0 0\ncpu0 9", 0},
		{"waiting for a disk is idle", "cpu  0 0 0 0 0 0 0 0 0 0", "cpu  0 0 0 50 50 0 0 0 0 0", 0},
		{"busy, as nice as can be", "cpu  0 0 0 0 0 0 0 0 0 0", "cpu  0 150 0 50 0 0 0 0 0 0", 0.75},
		{"the kernel and another guest", "cpu  0 0 0 0 0 0 0 0 0 0", "cpu  0 0 10 60 0 5 5 20 0 0", 0.4},
		{"a guest counts once", "cpu  0 0 0 0 0 0 0 0 0 0", "cpu  50 0 0 50 0 0 0 0 50 0", 0.5},
		{"nothing", "", "", 0},
	} {
		if got := busyShare(c.before, c.after); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
	}
}

package attacks

import (
	"bytes"
	"strings"
	"testing"
)

func TestAnAttackCountsOnlyBesideItsControl(t *testing.T) {
	for _, c := range []struct {
		name, out, last string
		held            bool
	}{
		{"held", "control a: ok\nattack a: held by b\n", "1 tried, 1 held, 0 broken", true},
		{"broken", "control a: ok\nattack a: broken got c\nattack a: held\n", "2 tried, 1 held, 1 broken", false},
		{"no control", "control b: ok\nattack a: held\n", "1 tried, 0 held, 1 broken", false},
		{"a control that fails", "control a: failed x\nattack a: held\n", "2 tried, 1 held, 1 broken", false},
		{"nothing tried", "control a: ok\n", "1 tried, 0 held, 1 broken", false},
		{"not promised", "limit b: c\ncontrol a: ok\nattack a: held\n", "1 tried, 1 held, 0 broken; 1 not promised on this rung", true},
		{"nothing but a limit", "limit b: c\n", "0 tried, 0 held, 0 broken; 1 not promised on this rung", false},
		{"nothing said", "", "1 tried, 0 held, 1 broken", false},
	} {
		var b bytes.Buffer
		if held := parse(c.out).Sum(&b); held != c.held || strings.TrimSpace(b.String()) != c.last {
			t.Errorf("%s: %v %q, want %v %q", c.name, held, b.String(), c.held, c.last)
		}
	}
}

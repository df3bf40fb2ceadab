package api

import (
	"strconv"
	"testing"
	"time"

	"choiros/internal/choir"
)

func TestFivePromptsInTenSeconds(t *testing.T) {
	at := time.Unix(0, 0)
	l := newRateLimit(5, 10*time.Second, func() time.Time { return at })
	for i := range 5 {
		if wait := l.allow("a"); wait != 0 {
			t.Fatalf("prompt %d waits %s", i, wait)
		}
		at = at.Add(time.Second)
	}
	if wait := l.allow("a"); wait != 5*time.Second {
		t.Fatalf("the sixth waits %s, want 5s", wait)
	}
	if wait := l.allow("b"); wait != 0 {
		t.Fatalf("another computer waits %s", wait)
	}
	at = at.Add(5 * time.Second)
	if wait := l.allow("a"); wait != 0 {
		t.Fatalf("after the span it waits %s", wait)
	}
}

// TestARateLimitForgets: every computer that ever did something was kept.
func TestARateLimitForgets(t *testing.T) {
	at := time.Unix(0, 0)
	l := newRateLimit(5, 10*time.Second, func() time.Time { return at })
	for i := range 1000 {
		l.allow(choir.ID(strconv.Itoa(i)))
	}
	at = at.Add(10 * time.Second)
	l.allow("a")
	if len(l.done) != 1 {
		t.Errorf("%d computers are kept", len(l.done))
	}
}

package api

import (
	"testing"
	"time"
)

func TestFivePromptsInTenSeconds(t *testing.T) {
	at := time.Unix(0, 0)
	w := newWindow(5, 10*time.Second, func() time.Time { return at })
	for i := range 5 {
		if wait := w.take("a"); wait != 0 {
			t.Fatalf("prompt %d waits %s", i, wait)
		}
		at = at.Add(time.Second)
	}
	if wait := w.take("a"); wait != 5*time.Second {
		t.Fatalf("the sixth waits %s, want 5s", wait)
	}
	if wait := w.take("b"); wait != 0 {
		t.Fatalf("another computer waits %s", wait)
	}
	at = at.Add(5 * time.Second)
	if wait := w.take("a"); wait != 0 {
		t.Fatalf("after the span it waits %s", wait)
	}
}

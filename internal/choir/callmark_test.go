package choir_test

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"choiros/internal/choir"
)

func TestAMarkIsReadBackFromItsAddress(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		task, n := choir.DeriveID("01890000-0000-7000-8000-000000000001", rapid.String().Draw(t, "task")), rapid.IntRange(0, 5000).Draw(t, "call")
		at := choir.MarkOf(task, n).Addr()
		m, ok := choir.MarkAt(at)
		want := choir.ID("")
		if n > 0 && n < 4096 {
			want = choir.ToolCallID(task, n)
		}
		if !ok || !m.Of(task) || m.Call(task) != want {
			t.Fatalf("%s of call %d: %t, %q", at, n, ok, m.Call(task))
		}
		if !at.IsLoopback() || at == netip.MustParseAddr("127.0.0.1") || at.As4()[1] == 255 {
			t.Fatalf("%s is no address for programs", at)
		}
	})
	for _, text := range []string{"127.0.0.1", "127.0.1.1", "127.255.255.255", "10.1.1.1", "::1"} {
		if _, ok := choir.MarkAt(netip.MustParseAddr(text)); ok {
			t.Errorf("%s carries a mark", text)
		}
	}
}

package eventstore

import (
	"fmt"
	"testing"

	"choiros/internal/choir"
)

// TestWhatWasReachedIsCounted appends requests to more hosts than have a row of their own, and holds
// that each byte is counted once, also by a copy that is made anew.
func TestWhatWasReachedIsCounted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	var sent, received int64
	pass := func(host string, port int, n int64) {
		sent, received = sent+n, received+2*n
		add(t, s, "", "", choir.EgressPassed{Host: host, Port: port, Sent: n, Received: 2 * n})
	}
	for i := range maxEgressHosts + 20 {
		pass(fmt.Sprintf("h%d.test", i), 443, int64(i+1))
	}
	pass("h0.test", 80, 5)
	pass("h7.test", 443, 1000)
	want := dump(t, s)
	s.Close()
	s = open(t, dir)
	hosts, err := s.EgressHosts(t.Context())
	if err != nil || len(hosts) != maxEgressHosts+1 {
		t.Fatalf("%d hosts: %v", len(hosts), err)
	}
	if first := hosts[0]; first.Host != "h7.test" || first.Requests != 2 || first.Sent != 1008 || first.Received != 2016 {
		t.Errorf("the newest is %+v", first)
	}
	if others := hosts[maxEgressHosts]; others.Host != "" || others.Requests != 21 {
		t.Errorf("all others are %+v", others)
	}
	for _, h := range hosts {
		sent, received = sent-h.Sent, received-h.Received
	}
	if sent != 0 || received != 0 {
		t.Errorf("%d and %d bytes are not counted", sent, received)
	}
	if err := s.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := dump(t, s); got != want {
		t.Error("a copy that is made anew has other numbers")
	}
}

// TestAHostThatWasOnlyAskedForWasNotReached appends tries that sent and received nothing: a name
// without an address, and a tunnel whose first bytes were refused.
func TestAHostThatWasOnlyAskedForWasNotReached(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	add(t, s, "", "", choir.EgressPassed{Host: "no-address.test", Port: 443, Cut: "error"})
	add(t, s, "", "", choir.EgressPassed{Host: "unclear.test", Port: 443, Address: "192.0.2.1", Cut: "error"})
	add(t, s, "", "", choir.EgressPassed{Host: "later.test", Port: 443, Cut: "error"})
	add(t, s, "", "", choir.EgressPassed{Host: "later.test", Port: 443, Address: "192.0.2.2", Sent: 500})
	hosts, err := s.EgressHosts(t.Context())
	if err != nil || len(hosts) != 1 || hosts[0].Host != "later.test" || hosts[0].Sent != 500 {
		t.Errorf("reached: %+v, %v", hosts, err)
	}
}
